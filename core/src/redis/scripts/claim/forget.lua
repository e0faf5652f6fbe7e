redis.call('PEXPIRE', KEYS[2], ARGV[2])
local record, corrupt = read(redis.call('HGETALL', KEYS[1]))
if corrupt then
  return 'corrupt-record'
end
if not record then
  return 'forgotten'
end
if guard(record) ~= ARGV[3] then
  return 'lost superseded'
end
redis.call('DEL', KEYS[1])
if record.state == 'running' then
  redis.pcall('PUBLISH', ARGV[4], '1')
end
return 'forgotten'
