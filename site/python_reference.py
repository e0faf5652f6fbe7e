"""pdoc for the Python package: `python site/python_reference.py DESTINATION MODULE...`.

The public classes inherit most of their methods from private ones, whose members pdoc omits. With this
program, the page of a class has all members that the package defines.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pdoc
import pdoc.doc
import pdoc.render


def members(of: pdoc.doc.Class) -> list[pdoc.doc.Doc[object]]:
    """The members of a class that the package defines."""
    return [each for each in of.members.values() if each.taken_from[0].startswith("fencepost")]


pdoc.doc.Class.own_members = property(members)  # type: ignore[assignment]
pdoc.render.configure(docformat="restructuredtext", show_source=False)
pdoc.pdoc(*sys.argv[2:], output_directory=Path(sys.argv[1]))
