"""The versions of ZooKeeper: Debian's, and a later one that `tools/jars` gets from Maven Central."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from . import packages
from .packages import MissingPackage

DEBIAN = "3.8"
CENTRAL = "3.9"
VERSIONS = (DEBIAN, CENTRAL)

ROOT = Path(__file__).resolve().parents[3]
FETCHED = ROOT / "build" / "jars"
FETCH = ROOT / "tools" / "jars" / "fetch"


def needed(version: str) -> list[str]:
    """The Debian packages that a server of this version needs."""
    return [packages.ZOOKEEPER] if version == DEBIAN else [packages.JAVA]


def ensure(version: str) -> None:
    """Returns when the jars of this version are here; Debian's come with its package."""
    if version == DEBIAN or any(FETCHED.glob("zookeeper-3.9.*.jar")):
        return
    packages.ensure([packages.MAVEN])
    if subprocess.run([str(FETCH)], stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode != 0:
        raise MissingPackage(
            f"ZooKeeper {version} is missing, and {FETCH.relative_to(ROOT)} could not get it"
        )


def classpath(version: str) -> str:
    """What a server of this version runs on."""
    if version == DEBIAN:
        return ":".join(str(packages.JARS / jar) for jar in ("zookeeper.jar", "slf4j-simple.jar"))
    return f"{FETCHED}/*"
