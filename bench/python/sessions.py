"""The cost of many sessions for a ZooKeeper ensemble, compared with sessions that only ping.

    cargo build --release -p fencepost-bench
    python3 tests/servers run --ensemble --tick 2000 -- .venv/bin/python bench/python/sessions.py [--number N]

`raw` is the client library alone, `idle` a client without a lock, `held` a client that holds one; each has a
session of 10 s. Prints a line for each: the processor time of the three servers together, in milliseconds a
second, and the transactions a second of their leader, over `--seconds` after all sessions are open.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import time
from pathlib import Path

ENSEMBLE = os.environ["FENCEPOST_ZOOKEEPER_ENSEMBLE"]
WORKER = Path(__file__).resolve().parents[2] / "target/release/sessions"
SESSION_SECONDS = 10
TICKS = os.sysconf("SC_CLK_TCK")


def ask(address: str, word: str) -> str:
    """Sends one line, and reads the reply until the server closes or the line ends."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(word.encode())
        with connection.makefile() as answer:
            return answer.readline() if word.endswith("\n") else answer.read()


def processor_time() -> float:
    """The processor time that the ensemble's processes have used so far, in seconds."""
    servers = json.loads(ask(os.environ["FENCEPOST_SERVERS"], "list\n"))["servers"]
    fields = [
        Path(f"/proc/{server['pid']}/stat").read_text().rsplit(") ", 1)[1].split() for server in servers
    ]
    return sum(int(field[11]) + int(field[12]) for field in fields) / TICKS


def ordered() -> int:
    """The number of the last transaction, of any member."""
    states = [ask(address, "srvr") for address in ENSEMBLE.split(",")]
    lines = [line for state in states for line in state.splitlines() if line.startswith("Zxid:")]
    return max(int(line.split()[1], 16) for line in lines) & 0xFFFF_FFFF


def measure(kind: str, options: argparse.Namespace) -> None:
    """Opens the sessions, and prints their cost while nothing else happens."""
    worker = subprocess.Popen(
        [WORKER, kind, f"zk://{ENSEMBLE}", str(options.number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    if worker.stdout.readline() != "ready\n":
        raise SystemExit(f"{WORKER} {kind} ended with {worker.wait()}")
    time.sleep(SESSION_SECONDS + 5)  # until the servers have expired the earlier sessions
    began, used, number = time.monotonic(), processor_time(), ordered()
    time.sleep(options.seconds)
    passed = time.monotonic() - began
    milliseconds = (processor_time() - used) * 1000 / passed
    transactions = (ordered() - number) / passed
    worker.stdin.close()
    if worker.wait() != 0:
        raise SystemExit(f"{WORKER} {kind} ended with {worker.returncode}")
    print(f"{kind:5} {milliseconds:7.1f} ms/s {transactions:7.1f} transactions/s", flush=True)


def main() -> None:
    """Measures one kind after the other, twice, because a new JVM is slower at first."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, default=1000, help="how many sessions")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long each kind is measured")
    options = parser.parse_args()
    for _ in range(2):
        for kind in ("raw", "idle", "held"):
            measure(kind, options)


if __name__ == "__main__":
    main()
