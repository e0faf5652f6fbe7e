if redis.call('PEXPIRE', KEYS[2], ARGV[2]) == 1 then
  return 'lost gone'
end
local record, corrupt = read(redis.call('HGETALL', KEYS[1]))
if corrupt then
  return 'corrupt-record'
end
if not runs(record, ARGV[1]) then
  return lost(record, ARGV[1])
end
local now = clock()
local left = extended(record, ARGV[3], now)
redis.call('HSET', KEYS[1], 'lease', record.lease)
redis.call('PEXPIRE', KEYS[1], left)
return 'extended'
