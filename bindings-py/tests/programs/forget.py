"""Holds a lock and ends without a release. Arguments: URL, name."""

from __future__ import annotations

import sys
import warnings

import fencepost

warnings.simplefilter("ignore", ResourceWarning)
client = fencepost.connect(sys.argv[1])
grant = client.lock(sys.argv[2]).acquire()
print("held", flush=True)
