"""Real ZooKeeper and Redis servers for tests: started, controlled and removed by `python3 tests/servers`."""
