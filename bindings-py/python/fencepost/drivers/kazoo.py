"""The driver for kazoo."""

from __future__ import annotations

from .zookeeper import KazooDriver, failure

__all__ = ["KazooDriver", "failure"]
