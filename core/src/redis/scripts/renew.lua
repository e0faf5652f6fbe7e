redis.call('PEXPIRE', KEYS[2], ARGV[3])
local holder = redis.call('GET', KEYS[1])
if holder ~= ARGV[1] then
  return {0, holder}
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return {1}
