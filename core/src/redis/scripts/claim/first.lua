if redis.call('PEXPIRE', KEYS[2], ARGV[2]) == 1 then
  return 'given-up'
end
