local function field(name, value)
  return value and name .. ':' .. #value .. ':' .. value .. '\n' or ''
end

local function shown(answer, key, record)
  if not record then
    return answer .. ' fencepost-record:1\n'
  end
  local left = redis.call('PTTL', key)
  local now = clock()
  return answer .. ' fencepost-record:1\n'
    .. field('state', record.state)
    .. field('attempt', record.attempt)
    .. field('fence', record.fence)
    .. field('takeovers', record.takeovers)
    .. field('fingerprint', record.fingerprint)
    .. field('binding', record.binding)
    .. field('life', record.life)
    .. field('policy', record.policy)
    .. field('lease', record.lease)
    .. field('retention', record.retention)
    .. field('kept', left >= 0 and digits(now + left))
    .. field('version', record.version)
    .. field('tag', record.tag)
    .. field('result', record.result)
end

