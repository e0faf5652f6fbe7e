local function runs(record, attempt)
  return record and record.state == 'running' and record.attempt == attempt
end

local function lost(record, attempt)
  if not record or record.state == 'issued' then
    return 'lost gone'
  end
  if record.state == 'done' and record.attempt == attempt then
    return 'lost done'
  end
  return 'lost superseded'
end

