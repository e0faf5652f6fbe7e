"""The clock, in microseconds. It never goes back. Where the system has such a clock, it also runs while the
computer is suspended.
"""

from __future__ import annotations

import time

# The time of a lease also passes while the computer is suspended, so the client's clock must run, too.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", None) or time.CLOCK_MONOTONIC
_read = time.clock_gettime_ns


def now() -> int:
    """The present time in microseconds since an arbitrary epoch."""
    return _read(_CLOCK) // 1000
