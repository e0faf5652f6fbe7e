"""Archives that depend on nothing but the files in them."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

from project import DIST, time_of_release


def pack(folder: Path, name: str) -> Path:
    """Packs what is in a folder, below one folder of the archive's name, into build/dist."""
    path = DIST / f"{name}.tar.xz"
    with tarfile.open(path, "w:xz", preset=9, format=tarfile.GNU_FORMAT) as archive:
        for each in sorted(folder.rglob("*")):
            archive.add(each, f"{name}/{each.relative_to(folder)}", recursive=False, filter=without_chance)
    return path


def without_chance(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """An entry without what the machine adds: who has built it, when, and with which umask."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = time_of_release()
    if not entry.issym():
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def sums() -> str:
    """The lines that `sha256sum --check` reads, for all that is in build/dist."""
    paths = sorted(path for path in DIST.iterdir() if path.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)


def file_of(archive: Path, name: str) -> bytes:
    """A file of a .tar.xz, .tar.gz, .crate or .tgz, by its path below the archive's one folder."""
    with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as opened:
        (entry,) = (entry for entry in opened if entry.name.partition("/")[2] == name)
        found = opened.extractfile(entry)
        assert found is not None, f"{name} is no file"
        return found.read()
