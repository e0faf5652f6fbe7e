return ended(function(record)
  if record.takeovers then
    lapse(record)
  elseif record.life then
    put(KEYS[1], {
      state = 'issued', attempt = ARGV[1], fence = record.fence, binding = record.binding, life = record.life,
      retention = record.retention,
    }, record.life)
  else
    redis.call('DEL', KEYS[1])
  end
end)
