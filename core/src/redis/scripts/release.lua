if redis.call('PEXPIRE', KEYS[2], ARGV[3]) == 1 and redis.call('GET', KEYS[2]) == '1' then
  return {1}
end
local holder = redis.pcall('GET', KEYS[1])
local own = holder == ARGV[1]
if own then
  redis.call('DEL', KEYS[1])
end
redis.call('SET', KEYS[2], own and '1' or '0', 'PX', ARGV[3])
if own then
  redis.pcall('PUBLISH', ARGV[2], '1')
  return {1}
end
if type(holder) == 'table' then
  return holder
end
return {0, holder}
