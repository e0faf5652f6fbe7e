redis.call('PEXPIRE', KEYS[2], ARGV[2])
local record, corrupt = read(redis.call('HGETALL', KEYS[1]))
if corrupt then
  return 'corrupt-record'
end
if not record then
  put(KEYS[1], {state = 'issued', attempt = ARGV[1], binding = ARGV[3], life = ARGV[4], retention = ARGV[5]}, ARGV[4])
  return 'issued'
end
return record.state == 'issued' and record.attempt == ARGV[1] and 'issued' or 'mismatch'
