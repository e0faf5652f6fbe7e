redis.call('PEXPIRE', KEYS[2], ARGV[2])
local record, corrupt = read(redis.call('HGETALL', KEYS[1]))
local operation, illegible = read(redis.call('HGETALL', KEYS[3]))
if corrupt or illegible then
  return 'corrupt-record'
end
if operation then
  if (operation.fingerprint or '') ~= ARGV[4] then
    return 'mismatch'
  end
  if operation.attempt == ARGV[1] then
    return 'applied ' .. (operation.version or '0')
  end
  return shown('replayed', KEYS[3], operation)
end
if record and record.state ~= 'value' then
  return 'mismatch'
end
local version = record and record.version or '0'
if version ~= ARGV[3] then
  return shown('conflict', KEYS[1], record)
end
version = digits(following(version))
put(KEYS[1], {state = 'value', attempt = ARGV[1], version = version, tag = ARGV[6], result = ARGV[7]})
put(KEYS[3], {state = 'done', attempt = ARGV[1], version = version, fingerprint = ARGV[4], retention = ARGV[5]}, ARGV[5])
return 'applied ' .. version
