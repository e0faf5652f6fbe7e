"""The versions of ZooKeeper: Debian's, and others that `tools/jars` downloads from Maven Central."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from . import packages
from .packages import MissingPackage

DEBIAN = "3.8"
CENTRAL = "3.9"
#: The versions that most tests use.
VERSIONS = (DEBIAN, CENTRAL)
#: Obsolete versions: the last one without containers, and the last one without multi.
OLD = {"3.4": "zookeeper-3.4.14.jar", "3.3": "zookeeper-3.3.6.jar"}

ROOT = Path(__file__).resolve().parents[3]
FETCHED = ROOT / "build" / "jars"
FETCHED_OLD = ROOT / "build" / "jars-old"
FETCH = ROOT / "tools" / "jars" / "fetch"


def needed(version: str) -> list[str]:
    """The Debian packages that a server of this version needs."""
    return [packages.ZOOKEEPER] if version == DEBIAN else [packages.JAVA]


def ensure(version: str) -> None:
    """Makes sure that the jars of this version exist. Debian's package contains its jars."""
    if version == DEBIAN or (any(FETCHED.glob("zookeeper-3.9.*.jar")) and here(version)):
        return
    packages.ensure([packages.MAVEN])
    if subprocess.run([str(FETCH)], stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode != 0:
        raise MissingPackage(
            f"ZooKeeper {version} is missing, and {FETCH.relative_to(ROOT)} could not get it"
        )


def here(version: str) -> bool:
    """Whether the jar of an old version exists. Other versions are not checked."""
    return version not in OLD or (FETCHED_OLD / OLD[version]).exists()


def classpath(version: str) -> str:
    """The class path of a server of this version."""
    if version in OLD:
        old = [FETCHED_OLD / OLD[version], *sorted(FETCHED_OLD.glob("reload4j-*.jar"))]
        return ":".join(str(jar) for jar in (*old, *sorted(FETCHED.glob("slf4j-*.jar"))))
    if version == DEBIAN:
        return ":".join(str(packages.JARS / jar) for jar in ("zookeeper.jar", "slf4j-simple.jar"))
    return f"{FETCHED}/*"
