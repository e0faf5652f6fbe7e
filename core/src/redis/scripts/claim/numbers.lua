local function digits(number)
  return string.format('%.0f', number)
end

local function following(number)
  return math.min(tonumber(number or '0') + 1, 9007199254740991)
end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000), time[1] .. string.sub('00000' .. time[2], -6)
end

