"""The driver for ``memory:``, a server inside the process."""

from __future__ import annotations

from ._driver import MemoryDriver, SharedServer, shared

__all__ = ["MemoryDriver", "SharedServer", "shared"]
