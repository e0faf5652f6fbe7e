local record, corrupt = read(redis.call('HGETALL', KEYS[1]))
if corrupt then
  return 'corrupt-record'
end
local running = record and record.state == 'running'
local answer, claimed = claim(record)
if claimed then
  store(KEYS[1], claimed, ARGV[1], ARGV[9], ARGV[10])
  if running then
    redis.pcall('PUBLISH', ARGV[11], '1')
  end
  return 'completed'
end
if answer ~= 'replayed' then
  return answer
end
return completed(record, ARGV[1], ARGV[9], ARGV[10])
