local words, absent = {}, {}

local function set(name, value)
  if value and value ~= '' then
    words[#words + 1] = name
    words[#words + 1] = value
  else
    absent[#absent + 1] = name
  end
end

local function write(key)
  redis.call('HDEL', key, '')
  redis.call('HSET', key, unpack(words))
  redis.call('HDEL', key, '', unpack(absent))
  words, absent = {}, {}
end

