local function whole(text)
  return not text
    or string.find(text, '^[1-9]%d*$') and (#text < 16 or #text == 16 and text <= '9007199254740991')
end

local function sound(record)
  local state, attempt, policy = record.state, record.attempt or '', record.policy
  return record.format == '1'
    and (state == 'running' or state == 'done' or state == 'issued' or state == 'value')
    and string.find(attempt, '^[0-9a-f]+%-[1-9]%d*$')
    and string.byte(attempt, 33) == 45
    and (#attempt < 43 or #attempt == 43 and string.sub(attempt, 34) <= '4294967295')
    and whole(record.fence)
    and whole(record.takeovers)
    and whole(record.life)
    and whole(record.lease)
    and whole(record.retention)
    and whole(record.version)
    and record.fingerprint ~= ''
    and record.binding ~= ''
    and (not policy or policy == 'block' or policy == 'indeterminate')
    and (record.life or not record.binding and state ~= 'issued')
    and (state == 'value' and record.version or state ~= 'value' and record.retention)
end

local function read(words)
  if #words == 0 then
    return nil, false
  end
  local record = {}
  for at = 1, #words, 2 do
    record[words[at]] = words[at + 1]
  end
  return record, not sound(record)
end

