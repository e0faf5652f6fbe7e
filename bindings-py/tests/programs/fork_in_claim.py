"""Forks inside the block of a claim; the child ends with sys.exit(3), the parent continues. Arguments: URL
and scope.
"""

from __future__ import annotations

import os
import sys
import warnings

import fencepost

# About a fork in a process with threads, which is the subject of this test.
warnings.simplefilter("ignore", DeprecationWarning)

url, scope = sys.argv[1:]
client = fencepost.connect(url)
try:
    with client.idempotency(scope).claim("order-17") as claim:
        child = os.fork()
        if not child:
            sys.exit(3)
        print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        claim.complete(17)
        print("completed", flush=True)
except SystemExit as end:
    os._exit(int(str(end.code)))
client.close()
