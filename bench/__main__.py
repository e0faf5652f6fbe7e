"""`python bench`: see README.md."""

from __future__ import annotations

import sys

from harness.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
