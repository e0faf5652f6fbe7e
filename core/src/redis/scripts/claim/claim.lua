local record, corrupt = read(stored)
if corrupt then
  return 'corrupt-record'
end
local answer, claimed, left = claim(record)
if claimed then
  put(KEYS[1], claimed, left)
  return 'claimed ' .. (claimed.fence or '0') .. ' ' .. (claimed.takeovers or '0')
end
if answer == 'replayed' then
  return shown('replayed', KEYS[1], record)
end
return answer
