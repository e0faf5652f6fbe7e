redis.call('PEXPIRE', KEYS[3], ARGV[1])
local holder = redis.call('GET', KEYS[1])
if not holder then
  return {}
end
return {holder, redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[2]) or ''}
