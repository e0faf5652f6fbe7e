local function claim(record, attempt, request)
  local token, binding, fingerprint, policy, lease, retention = unpack(request)
  local micros, now = clock()
  if not record then
    if token == '1' then
      return {'unknown-token'}
    end
    record = {fingerprint = fingerprint, policy = policy}
  elseif record.state == 'value' or (record.life and '1' or '0') ~= token or (record.binding or '') ~= binding then
    return {'mismatch'}
  elseif record.state == 'issued' then
    record.fingerprint, record.policy = fingerprint, policy
  elseif (record.fingerprint or '') ~= fingerprint then
    return {'mismatch'}
  elseif record.state == 'done' then
    return {'replayed'}
  elseif record.attempt == attempt then
    return {'claimed', record.fence or '0', record.takeovers or '0'}, record, extended(record, lease, now)
  elseif tonumber(record.lease or '0') > now then
    return {'in-progress', record.lease - now}
  elseif record.policy == 'block' then
    return {'in-progress', -1}
  elseif record.policy == 'indeterminate' then
    return {'indeterminate'}
  else
    record.takeovers = digits(following(record.takeovers))
  end
  record.state, record.attempt, record.lease, record.retention = 'running', attempt, nil, retention
  record.fence = digits(math.max(following(record.fence), micros))
  return {'claimed', record.fence, record.takeovers or '0'}, record, extended(record, lease, now)
end

