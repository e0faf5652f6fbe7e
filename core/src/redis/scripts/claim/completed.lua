local function completed(record, attempt, tag, result)
  if record.attempt ~= attempt then
    return shown('replayed', KEYS[1], record)
  end
  return (record.tag or '') == tag and (record.result or '') == result and 'completed' or 'mismatch'
end

