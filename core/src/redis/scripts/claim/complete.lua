redis.call('PEXPIRE', KEYS[2], ARGV[2])
local record, corrupt = read(KEYS[1])
if corrupt then
  return {'corrupt-record'}
end
if runs(record, ARGV[1]) then
  local words, absent = {'state', 'done'}, {'lease'}
  for at, name in ipairs({'tag', 'result'}) do
    if ARGV[at + 2] ~= '' then
      words[#words + 1] = name
      words[#words + 1] = ARGV[at + 2]
    else
      absent[#absent + 1] = name
    end
  end
  write(KEYS[1], words, absent)
  redis.call('PEXPIRE', KEYS[1], record.retention)
  redis.pcall('PUBLISH', ARGV[5], '1')
  return {'completed'}
end
if not record or record.state ~= 'done' then
  return lost(record, ARGV[1])
end
return completed(record, ARGV[1], ARGV[3], ARGV[4])
