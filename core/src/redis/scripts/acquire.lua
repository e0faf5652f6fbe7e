if redis.call('PEXPIRE', KEYS[3], ARGV[4]) == 1 then
  return {2}
end
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return {0, redis.call('PTTL', KEYS[1]), holder}
end
local kept = redis.call('GET', KEYS[2])
if kept and (string.find(kept, '%D') or kept == '' or tonumber(kept) > 9007199254740990) then
  return {3, kept}
end
if holder and kept then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1, kept}
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local fence = string.format('%.0f', math.max(tonumber(kept or '0') + 1, now))
redis.call('SET', KEYS[2], fence, 'PX', ARGV[3])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, fence}
