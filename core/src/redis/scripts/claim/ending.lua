local function lapse(record)
  local now = clock()
  if tonumber(record.lease or '0') > now then
    redis.call('HSET', KEYS[1], 'lease', digits(now))
  end
  redis.call('PEXPIRE', KEYS[1], record.retention)
end

local function ended(finish)
  if redis.call('PEXPIRE', KEYS[2], ARGV[2]) == 1 and redis.call('GET', KEYS[2]) == '1' then
    return 'released'
  end
  local record, corrupt = read(redis.call('HGETALL', KEYS[1]))
  if corrupt then
    return 'corrupt-record'
  end
  local answer = 'released'
  local own = runs(record, ARGV[1])
  if own then
    redis.call('SET', KEYS[2], '0', 'XX', 'PX', ARGV[2])
    finish(record)
  else
    answer = lost(record, ARGV[1])
    answer = answer == 'lost gone' and 'released' or answer
  end
  redis.call('SET', KEYS[2], answer == 'released' and '1' or '0', 'PX', ARGV[2])
  if own then
    redis.pcall('PUBLISH', ARGV[3], '1')
  end
  return answer
end

