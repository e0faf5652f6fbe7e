"""The Python package: a wheel for each target, and the source distribution.

A target is Rust's name of a platform, or `here` for this machine's. The tests of a checkout use `here`, which
has its own folder, so that it does not change the artefacts of a release. zig, from the package ziglang,
links with an old glibc, and for other processors. Builds in two folders give the same bytes: the libraries
contain no path of this machine, and the list of their parts (the SBOM) contains neither a random number nor
the time.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import uuid
import zipfile
from pathlib import Path

import notices
import parts
import sbom
from project import DIST, HERE, MACHINE, ROOT, Refused, builds_alike, run

PLATFORMS = {
    "x86_64-unknown-linux-gnu": "manylinux2014",
    "aarch64-unknown-linux-gnu": "manylinux2014",
    "x86_64-unknown-linux-musl": "musllinux_1_2",
    "aarch64-unknown-linux-musl": "musllinux_1_2",
}
#: The time of all files in a wheel, so that its bytes do not depend on the time of the build.
TIME = (1980, 1, 1, 0, 0, 0)


def maturin(*arguments: str, flags: str = "") -> None:
    """Runs maturin, with the zig of this environment, in the package's folder."""
    programs = Path(sys.executable).parent
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    command = (str(programs / "maturin"), *arguments)
    variables = {"PATH": path, "VIRTUAL_ENV": str(programs.parent)} | ({"RUSTFLAGS": flags} if flags else {})
    run(*command, cwd=ROOT / "bindings-py", env=variables)


def build(target: str, folder: Path) -> Path:
    """Builds the wheel of a target."""
    run("rustup", "--quiet", "target", "add", target)
    options = ("--release", "--quiet", "--zig", "--locked", "--target", target, "--out", str(folder))
    flags = builds_alike()["RUSTFLAGS"]
    maturin("build", *options, "--compatibility", PLATFORMS[target], flags=flags)
    (wheel,) = folder.glob("*.whl")
    return wheel


def without_chance(name: str, content: bytes) -> bytes:
    """A file of a wheel without its random parts."""
    if "/sboms/" not in name:
        return content
    sbom = json.loads(content.replace(str(ROOT).encode(), b"/fencepost"))
    sbom.pop("serialNumber", None)
    sbom["metadata"].pop("timestamp", None)
    known = json.dumps(sbom, sort_keys=True)
    sbom["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, known)}"
    return json.dumps(sbom, indent=1, sort_keys=True).encode()


def with_notices(files: dict[str, bytes], target: str) -> None:
    """Adds the licences of the crates that are compiled into the library."""
    (metadata,) = (name for name in files if name.endswith(".dist-info/METADATA"))
    line = b"License-File: LICENSE\n"
    assert line in files[metadata]
    files[metadata] = files[metadata].replace(line, line + f"License-File: {notices.NAME}\n".encode())
    text = notices.of("fencepost-py", target)
    files[metadata.replace("METADATA", f"licenses/{notices.NAME}")] = text.encode()


def repack(wheel: Path, into: Path, target: str) -> Path:
    """Writes a wheel again, always with the same bytes."""
    with zipfile.ZipFile(wheel) as made:
        modes = {entry.filename: entry.external_attr for entry in made.infolist()}
        files = {name: without_chance(name, made.read(name)) for name in made.namelist()}
    with_notices(files, target)
    (record,) = (name for name in files if name.endswith(".dist-info/RECORD"))
    del files[record]
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    with zipfile.ZipFile(into / wheel.name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, modes.get(name, modes[record])
            archive.writestr(entry, content)
    return into / wheel.name


def make(*targets: str) -> None:
    """Builds the wheels of these targets, or of all; and the source distribution."""
    into = HERE if targets == ("here",) else DIST
    targets = tuple(f"{MACHINE}-unknown-linux-gnu" if each == "here" else each for each in targets)
    unknown = [target for target in targets if target not in PLATFORMS]
    if unknown:
        raise Refused(f"unknown target {unknown[0]}: give `here` or one of {', '.join(PLATFORMS)}")
    into.mkdir(parents=True, exist_ok=True)
    for old in [*into.glob("fencepost-*.whl*"), *into.glob("fencepost-*.tar.gz*")]:
        old.unlink()
    for target in targets or PLATFORMS:
        folder = ROOT / "build" / "wheels" / target
        for old in folder.glob("*.whl"):
            old.unlink()
        sbom.write(repack(build(target, folder), into, target), parts.of("fencepost-py", target))
    maturin("sdist", "--out", str(into))
    (sources,) = into.glob("fencepost-*.tar.gz")
    sbom.write(sources, parts.of("fencepost-py", "all"))
