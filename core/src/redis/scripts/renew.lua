-- Makes the lease last from now on, if the lock is still this attempt's. A lease is never shortened.
-- KEYS: lock, fence.  ARGV: attempt, lease in ms, how long to keep the fence in ms.
-- Answers {1} renewed | {0, holder} it is not: the holder's value, or nothing if nobody holds it.
local holder = redis.call('GET', KEYS[1])
if holder ~= ARGV[1] then
  return {0, holder}
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return {1}
