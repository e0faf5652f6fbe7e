redis.call('PEXPIRE', KEYS[2], ARGV[2])
local record, corrupt = read(redis.call('HGETALL', KEYS[1]))
if corrupt then
  return 'corrupt-record'
end
if runs(record, ARGV[1]) then
  words, absent = {'state', 'done'}, {'lease'}
  set('tag', ARGV[3])
  set('result', ARGV[4])
  write(KEYS[1])
  redis.call('PEXPIRE', KEYS[1], record.retention)
  redis.pcall('PUBLISH', ARGV[5], '1')
  return 'completed'
end
if not record or record.state ~= 'done' then
  return lost(record, ARGV[1])
end
return completed(record, ARGV[1], ARGV[3], ARGV[4])
