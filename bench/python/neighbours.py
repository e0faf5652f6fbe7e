"""fencepost's lock and redis-py's lock contend for one key, each in its own process.

    python3 tests/servers run --redis 1 -- .venv/bin/python bench/python/neighbours.py [--poll SECONDS]

redis-py's lock does not announce a release, and polls every 10 ms. Prints how many turns each lock got, and
how many scripts the server ran for fencepost's waiter.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
import uuid
from collections.abc import Callable

import fencepost
import redis

URL = "redis://" + os.environ.get("FENCEPOST_REDIS", "127.0.0.1:6379")


def turns(take: Callable[[], Callable[[], object]], options: argparse.Namespace) -> int:
    """Acquires and releases the lock until the time is up."""
    done, end = 0, time.monotonic() + options.seconds
    while time.monotonic() < end:
        give_back = take()
        time.sleep(options.hold)
        give_back()
        done += 1
        time.sleep(options.rest)
    return done


def ours(
    name: str, options: argparse.Namespace, results: multiprocessing.SimpleQueue[tuple[str, int]]
) -> None:
    """fencepost's lock."""
    poll = {} if options.poll is None else {"poll": options.poll}
    with fencepost.connect(URL) as client:
        lock = client.lock(name, **poll)

        def take() -> Callable[[], object]:
            grant = lock.acquire()
            assert grant is not None
            return grant.release

        results.put(("fencepost", turns(take, options)))


def theirs(
    name: str, options: argparse.Namespace, results: multiprocessing.SimpleQueue[tuple[str, int]]
) -> None:
    """redis-py's lock."""
    lock = redis.Redis.from_url(URL).lock(name, timeout=10, sleep=options.sleep)

    def take() -> Callable[[], object]:
        assert lock.acquire()
        release: Callable[[], object] = lock.release
        return release

    results.put(("redis-py", turns(take, options)))


def scripts() -> int:
    """How many scripts the server has run."""
    with redis.Redis.from_url(URL) as client:
        stats = client.info("commandstats")
    return sum(stats.get(f"cmdstat_{name}", {}).get("calls", 0) for name in ("eval", "evalsha"))


def main() -> None:
    """Runs both at once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--hold", type=float, default=0.005, help="how long a turn lasts, in seconds")
    parser.add_argument("--rest", type=float, default=0.0, help="how long each process pauses after a turn")
    parser.add_argument("--sleep", type=float, default=0.01, help="the interval at which redis-py polls")
    parser.add_argument("--poll", type=float, help="fencepost's option (default: fencepost's default)")
    options = parser.parse_args()
    results: multiprocessing.SimpleQueue[tuple[str, int]] = multiprocessing.SimpleQueue()
    name, before = f"neighbours/{uuid.uuid4()}", scripts()
    both = [multiprocessing.Process(target=side, args=(name, options, results)) for side in (ours, theirs)]
    for side in both:
        side.start()
    for side in both:
        side.join()
    report = dict(results.get() for _ in both)
    print(f"{report}, scripts run: {scripts() - before}")


if __name__ == "__main__":
    main()
