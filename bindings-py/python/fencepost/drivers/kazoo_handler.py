"""A handler for KazooClient that waits for its sockets with poll."""

from __future__ import annotations

from .zookeeper import PollHandler

__all__ = ["PollHandler"]
