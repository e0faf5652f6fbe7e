redis.call('PEXPIRE', KEYS[2], ARGV[2])
local record, corrupt = read(redis.call('HGETALL', KEYS[1]))
if corrupt then
  return 'corrupt-record'
end
return shown('looked', KEYS[1], record)
