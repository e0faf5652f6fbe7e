if redis.call('PEXPIRE', KEYS[2], ARGV[2]) == 1 and redis.call('GET', KEYS[2]) == '1' then
  return {'released'}
end
local record, corrupt = read(KEYS[1])
if corrupt then
  return {'corrupt-record'}
end
local answer = {'released'}
if not runs(record, ARGV[1]) then
  answer = lost(record, ARGV[1])
  answer = answer[2] == 'gone' and {'released'} or answer
elseif record.life then
  put(KEYS[1], {
    state = 'issued', attempt = ARGV[1], fence = record.fence, binding = record.binding, life = record.life,
    retention = record.retention,
  }, tonumber(record.life))
else
  redis.call('DEL', KEYS[1])
end
redis.call('SET', KEYS[2], answer[1] == 'released' and '1' or '0', 'PX', ARGV[2])
if runs(record, ARGV[1]) then
  redis.pcall('PUBLISH', ARGV[3], '1')
end
return answer
