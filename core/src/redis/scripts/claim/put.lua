local function put(key, record, left)
  set('format', '1')
  set('state', record.state)
  set('attempt', record.attempt)
  set('fence', record.fence)
  set('takeovers', record.takeovers)
  set('fingerprint', record.fingerprint)
  set('binding', record.binding)
  set('life', record.life)
  set('policy', record.policy)
  set('lease', record.lease)
  set('retention', record.retention)
  set('version', record.version)
  set('tag', record.tag)
  set('result', record.result)
  write(key)
  if left then
    redis.call('PEXPIRE', key, left)
  end
end

local function store(key, record, attempt, tag, result)
  record.state, record.attempt, record.lease = 'done', attempt, nil
  record.tag, record.result = tag, result
  put(key, record, record.retention)
end

