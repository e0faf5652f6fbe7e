local function guard(record)
  if record.state == 'value' then
    return record.version
  end
  return record.state == 'done' and digits(following(record.fence)) or record.fence or '0'
end

