local stored = redis.call('HGETALL', KEYS[1])
if ARGV[3] == '0' and #stored == 0 then
  local now, fence = clock()
  words = {
    'format', '1', 'state', 'running', 'attempt', ARGV[1], 'fence', fence, 'lease', digits(now + ARGV[7]),
    'retention', ARGV[8],
  }
  set('fingerprint', ARGV[5])
  set('policy', ARGV[6])
  redis.call('HDEL', KEYS[1], '')
  redis.call('HSET', KEYS[1], unpack(words))
  redis.call('PEXPIRE', KEYS[1], digits(math.max(ARGV[7], ARGV[8])))
  return 'claimed ' .. fence .. ' 0'
end

