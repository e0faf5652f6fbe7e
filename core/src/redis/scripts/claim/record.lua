local names = {
  'format', 'state', 'attempt', 'fence', 'takeovers', 'fingerprint', 'binding', 'life', 'policy', 'lease',
  'retention', 'version',
}
local counts = {fence = true, takeovers = true, life = true, lease = true, retention = true, version = true}
local states = {issued = true, running = true, done = true, value = true}
local policies = {block = true, indeterminate = true}

local most = 9007199254740991

local function whole(text, limit)
  return #text <= 16 and string.find(text, '^[1-9]%d*$') and tonumber(text) <= limit
end

local function sound(record)
  for _, name in ipairs(names) do
    local text = record[name]
    if text and (text == '' or counts[name] and not whole(text, most)) then
      return false
    end
  end
  local attempt = record.attempt or ''
  return record.format == '1'
    and states[record.state or '']
    and string.find(attempt, '^[0-9a-f]+%-')
    and string.sub(attempt, 33, 33) == '-'
    and whole(string.sub(attempt, 34), 4294967295)
    and (not record.policy or policies[record.policy])
    and (record.life or not record.binding and record.state ~= 'issued')
    and (record.state == 'value' and record.version or record.state ~= 'value' and record.retention)
end

local function read(key)
  local words = redis.call('HGETALL', key)
  if #words == 0 then
    return nil, false
  end
  local record = {}
  for at = 1, #words, 2 do
    record[words[at]] = words[at + 1]
  end
  return record, not sound(record)
end

local function digits(number)
  return string.format('%.0f', number)
end

local function following(number)
  return math.min(tonumber(number or '0') + 1, most)
end

local function write(key, words, absent)
  redis.call('HDEL', key, '')
  redis.call('HSET', key, unpack(words))
  redis.call('HDEL', key, '', unpack(absent))
end

local function put(key, record, left)
  local words, absent = {}, {}
  record.format = '1'
  for _, list in ipairs({names, {'tag', 'result'}}) do
    for _, name in ipairs(list) do
      if record[name] and record[name] ~= '' then
        words[#words + 1] = name
        words[#words + 1] = record[name]
      else
        absent[#absent + 1] = name
      end
    end
  end
  write(key, words, absent)
  if left then
    redis.call('PEXPIRE', key, digits(left))
  end
end

local function clock()
  local time = redis.call('TIME')
  local micros = time[1] * 1000000 + time[2]
  return micros, math.floor(micros / 1000)
end

local function shown(answer, key, record)
  local text = {'fencepost-record:1\n'}
  local function add(name, value)
    if value then
      for _, piece in ipairs({name, ':', #value, ':', value, '\n'}) do
        text[#text + 1] = piece
      end
    end
  end
  if record then
    local _, now = clock()
    local left = redis.call('PTTL', key)
    for at = 2, #names do
      if names[at] == 'version' then
        add('kept', left >= 0 and digits(now + left))
      end
      add(names[at], record[names[at]])
    end
    add('tag', record.tag)
    add('result', record.result)
  end
  return {answer, table.concat(text)}
end

local function runs(record, attempt)
  return record and record.state == 'running' and record.attempt == attempt
end

local function lost(record, attempt)
  if not record or record.state == 'issued' then
    return {'lost', 'gone'}
  end
  if record.state == 'done' and record.attempt == attempt then
    return {'lost', 'done'}
  end
  return {'lost', 'superseded'}
end

local function completed(record, attempt, tag, result)
  if record.attempt ~= attempt then
    return shown('replayed', KEYS[1], record)
  end
  return {(record.tag or '') == tag and (record.result or '') == result and 'completed' or 'mismatch'}
end

local function guard(record)
  if record.state == 'value' then
    return record.version
  end
  return record.state == 'done' and digits(following(record.fence)) or record.fence or '0'
end

local function store(key, record, attempt, tag, result)
  record.state, record.attempt, record.lease = 'done', attempt, nil
  record.tag, record.result = tag, result
  put(key, record, tonumber(record.retention))
end

local function extended(record, lease, now)
  local ends = math.max(tonumber(record.lease or '0'), now + tonumber(lease))
  record.lease = digits(ends)
  return math.max(tonumber(record.retention), ends - now)
end

