"""Charges a card, and is killed by SIGKILL after the charge, before the result is stored.

A second process claims the operation when the lease of the first has ended, and charges again. The payment
provider recognises the repetition, because both attempts derive the same key. It needs a server that both
processes reach:

    python examples/charge.py redis://localhost:6379
    python examples/charge.py 'zk://localhost:2181/shop?session_timeout=2000'
"""

from __future__ import annotations

import secrets
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import fencepost


class Provider:
    """Stands for a payment provider. It makes one charge for each key."""

    def __init__(self, book: Path) -> None:
        self._book = sqlite3.connect(book)
        self._book.execute("CREATE TABLE IF NOT EXISTS charges (key TEXT PRIMARY KEY, cents INTEGER)")

    def charge(self, key: str, cents: int) -> bool:
        """Charges a card. Returns whether the charge is new."""
        with self._book:
            made = self._book.execute("INSERT OR IGNORE INTO charges VALUES (?, ?)", (key, cents))
        return made.rowcount == 1

    def total(self) -> int:
        """The sum of all charges, in cents."""
        total: int = self._book.execute("SELECT sum(cents) FROM charges").fetchone()[0]
        return total


def pay(address: str, order: str, book: Path, *, dies: bool) -> None:
    """The endpoint. It prints what it does."""
    with fencepost.connect(address) as client:
        # On Redis, the lease of a killed process ends after a second. On ZooKeeper, it ends with the session.
        lease = 1 if address.startswith("redis") else None
        payments = client.idempotency("payments", on_lease_end="retake", lease=lease)
        with payments.claim(order, fingerprint="1700 cents") as claim:
            if not claim.replayed:
                new = Provider(book).charge(claim.derive("charge"), 1700)
                print(f"takeovers: {claim.takeovers}, a new charge: {new}", flush=True)
                if dies:
                    signal.pause()  # until the SIGKILL
                claim.complete("receipt 1")
            print("replayed:" if claim.replayed else "completed:", claim.result, flush=True)


def main(address: str) -> None:
    """Kills the first attempt, and makes two more."""
    order = f"order-{secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder) / "book.sqlite"
        command = [sys.executable, __file__, address, order, str(book)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as attempt:
            assert attempt.stdout is not None
            print(attempt.stdout.readline(), end="")
            attempt.kill()
        print("killed")
        pay(address, order, book, dies=False)
        pay(address, order, book, dies=False)
        print("charged:", Provider(book).total(), "cents")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        pay(sys.argv[1], sys.argv[2], Path(sys.argv[3]), dies=True)
    elif len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        print("give an address: charge.py redis://HOST:PORT", file=sys.stderr)
        sys.exit(2)
