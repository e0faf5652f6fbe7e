"""Connects, waits for a line, acquires with a limit and prints the outcome."""

import sys

import fencepost

url, name, acquire_timeout = sys.argv[1:]
with fencepost.connect(url) as client:
    lock = client.lock(name, ttl=60) if url.startswith("redis") else client.lock(name)
    with lock:
        pass
    print("ready", flush=True)
    sys.stdin.readline()
    grant = lock.acquire(timeout=float(acquire_timeout))
    print("granted" if grant else "nothing", flush=True)
    if grant:
        grant.release()
