"""Archives whose bytes depend only on their files."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path

from project import DIST, time_of_release


def pack(folder: Path, name: str) -> Path:
    """Packs the content of a folder into build/dist, below one folder with the archive's name."""
    path = DIST / f"{name}.tar.xz"
    with tarfile.open(path, "w:xz", preset=9, format=tarfile.GNU_FORMAT) as archive:
        for each in sorted(folder.rglob("*")):
            archive.add(each, f"{name}/{each.relative_to(folder)}", recursive=False, filter=without_chance)
    return path


def without_chance(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """An entry without the machine's data: the user, the time and the umask."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = time_of_release()
    if not entry.issym():
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def write_sums() -> None:
    """Writes the lines that `sha256sum --check` reads, for all files in build/dist."""
    paths = sorted(path for path in DIST.iterdir() if path.name != "SHA256SUMS")
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)
    (DIST / "SHA256SUMS").write_text("".join(lines))
