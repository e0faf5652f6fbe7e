if redis.call('PEXPIRE', KEYS[3], ARGV[3]) == 1 then
  return {1}
end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return {0}
end
local fence = redis.call('GET', KEYS[4])
if fence and fence ~= ARGV[4] and ARGV[4] ~= '0' then
  return {0}
end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], '0', 'PX', ARGV[3])
redis.call('SET', KEYS[3], '1', 'PX', ARGV[3])
redis.pcall('PUBLISH', ARGV[2], '1')
return {1}
