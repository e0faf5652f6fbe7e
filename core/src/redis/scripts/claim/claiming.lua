local function claim(record)
  local new = not record or record.state == 'issued'
  if not record then
    if ARGV[3] == '1' then
      return 'unknown-token'
    end
    record = {}
  elseif record.state == 'value' or (record.life and '1' or '0') ~= ARGV[3] or (record.binding or '') ~= ARGV[4] then
    return 'mismatch'
  elseif not new and (record.fingerprint or '') ~= ARGV[5] then
    return 'mismatch'
  elseif record.state == 'done' then
    return 'replayed'
  end
  local now, micros = clock()
  if new then
    record.fingerprint, record.policy = ARGV[5], ARGV[6]
  elseif record.attempt == ARGV[1] then
    return 'claimed', record, extended(record, ARGV[7], now)
  elseif tonumber(record.lease or '0') > now then
    return 'in-progress ' .. digits(record.lease - now)
  elseif record.policy == 'block' then
    return 'in-progress'
  elseif record.policy == 'indeterminate' then
    return 'indeterminate'
  else
    record.takeovers = digits(following(record.takeovers))
  end
  record.state, record.attempt, record.lease, record.retention = 'running', ARGV[1], nil, ARGV[8]
  record.fence = digits(math.max(following(record.fence), micros))
  return 'claimed', record, extended(record, ARGV[7], now)
end

