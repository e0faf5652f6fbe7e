redis.call('PEXPIRE', KEYS[2], ARGV[2])
local record, corrupt = read(redis.call('HGETALL', KEYS[1]))
if corrupt then
  return 'corrupt-record'
end
if not record then
  return 'lost gone'
end
if record.state == 'value' then
  return 'mismatch'
end
if record.state == 'done' then
  return completed(record, ARGV[1], ARGV[4], ARGV[5])
end
if guard(record) ~= ARGV[3] then
  return 'lost superseded'
end
local running = record.state == 'running'
store(KEYS[1], record, ARGV[1], ARGV[4], ARGV[5])
if running then
  redis.pcall('PUBLISH', ARGV[6], '1')
end
return 'completed'
