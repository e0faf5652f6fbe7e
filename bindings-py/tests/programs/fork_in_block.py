"""Forks inside a block; the child ends with sys.exit(3), the parent goes on. Arguments: URL, name."""

from __future__ import annotations

import os
import sys
import warnings

import fencepost

# Of forking while there are threads: that is what is tested.
warnings.simplefilter("ignore", DeprecationWarning)
warnings.simplefilter("ignore", ResourceWarning)

client = fencepost.connect(sys.argv[1])
child = 0
try:
    with client.lock(sys.argv[2]) as grant:
        child = os.fork()
        if not child:
            sys.exit(3)
        print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        print("valid" if grant.is_valid else "lost", flush=True)
except SystemExit as end:
    os._exit(int(str(end.code)))
client.close()
