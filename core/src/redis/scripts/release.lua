if ARGV[3] ~= '0' then
  redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
end
local holder = redis.call('GET', KEYS[1])
if holder ~= ARGV[1] then
  return {0, holder}
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], '1')
return {1}
