"""The package's loggers.

``fencepost`` logs the events of acquires, grants and claims: losses at WARNING, the rest at DEBUG.
``fencepost.driver.zookeeper`` and ``fencepost.driver.redis`` log connections: changes at INFO, and requests
without a reply at DEBUG. No record contains a password, or the key of an operation, which may be a token.
"""

from __future__ import annotations

import logging

log = logging.getLogger("fencepost")
# Without a configuration of logging, Python would write warnings to the standard error.
log.addHandler(logging.NullHandler())


def driver_log(family: str) -> logging.Logger:
    """The logger of a driver."""
    return logging.getLogger(f"fencepost.driver.{family}")
