"""Prints the text of a script of fencepost, as the core puts it together: `python3 bench/scripts.py Claim`.

The raw subjects send the same scripts as fencepost, without fencepost in their process.
"""

import re
import sys
from pathlib import Path

CORE = Path(__file__).resolve().parents[1] / "core/src/redis"


def text(name: str) -> str:
    """The text of the script with this name in `core/src/redis/scripts.rs`."""
    source = (CORE / "scripts.rs").read_text()
    found = re.search(rf"^    {name} = \[([^\]]+)\]", source, re.MULTILINE)
    if found is None:
        raise LookupError(f"scripts.rs has no script {name!r}")
    parts: list[str] = re.findall(r'"([\w/]+)"', found[1])
    return "".join((CORE / f"scripts/{part}.lua").read_text() for part in parts)


if __name__ == "__main__":
    sys.stdout.write(text(sys.argv[1]))
