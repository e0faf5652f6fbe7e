if redis.call('PEXPIRE', KEYS[2], ARGV[2]) == 1 then
  return {'given-up'}
end
local record, corrupt = read(KEYS[1])
if corrupt then
  return {'corrupt-record'}
end
local running = record and record.state == 'running'
local answer, claimed = claim(record, ARGV[1], {unpack(ARGV, 3, 8)})
if claimed then
  store(KEYS[1], claimed, ARGV[1], ARGV[9], ARGV[10])
  if running then
    redis.pcall('PUBLISH', ARGV[11], '1')
  end
  return {'completed'}
end
if answer[1] ~= 'replayed' then
  return answer
end
return completed(record, ARGV[1], ARGV[9], ARGV[10])
