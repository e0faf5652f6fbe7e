"""The package's logger."""

from __future__ import annotations

import logging

log = logging.getLogger("fencepost")
