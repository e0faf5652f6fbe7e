local function extended(record, lease, now)
  local ends = math.max(tonumber(record.lease or '0'), now + lease)
  record.lease = digits(ends)
  return digits(math.max(record.retention, ends - now))
end

