"""The driver for ZooKeeper, with kazoo."""

from __future__ import annotations

from ._driver import KazooDriver, failure
from ._poll_handler import PollHandler

__all__ = ["KazooDriver", "PollHandler", "failure"]
