if redis.call('PEXPIRE', KEYS[2], ARGV[2]) == 1 then
  return {'given-up'}
end
local record, corrupt = read(KEYS[1])
if corrupt then
  return {'corrupt-record'}
end
local answer, claimed, left = claim(record, ARGV[1], {unpack(ARGV, 3, 8)})
if claimed then
  put(KEYS[1], claimed, left)
elseif answer[1] == 'replayed' then
  return shown('replayed', KEYS[1], record)
end
return answer
