"""Finds the server programs, and installs the Debian packages that are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

REDIS = "redis-server"
ZOOKEEPER = "zookeeper"
JAVA = "default-jre-headless"
MAVEN = "maven"
IPROUTE = "iproute2"
OPENSSL = "openssl"

#: The programs whose name differs from the package's name.
PROGRAMS = {JAVA: "java", MAVEN: "mvn", IPROUTE: "ip"}

JARS = Path("/usr/share/java")
POLICY = Path("/usr/sbin/policy-rc.d")


class MissingPackage(Exception):
    """A server program is missing, and this program cannot install it."""


def present(package: str) -> bool:
    """Whether the needed programs of `package` are installed."""
    if package == ZOOKEEPER:
        return (JARS / "zookeeper.jar").exists() and shutil.which("java") is not None
    return shutil.which(PROGRAMS.get(package, package)) is not None


def ensure(packages: Iterable[str]) -> None:
    """Makes sure that all `packages` are present; root installs the missing ones."""
    missing = [package for package in packages if not present(package)]
    if not missing:
        return
    names = " ".join(missing)
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise MissingPackage(
            f"missing Debian package(s): {names}; install them with `apt-get install {names}`, "
            "or run `python3 tests/servers install` as root"
        )
    install(missing)
    still = [package for package in missing if not present(package)]
    if still:
        raise MissingPackage(f"installed {names}, but the programs of {' '.join(still)} are still not found")


def install(packages: list[str]) -> None:
    """Installs with apt-get, and prevents that the packages start services."""
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    apt = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300"]
    ours = forbid_services()
    try:
        for step in (["update"], ["install", "--no-install-recommends", *packages]):
            # apt's output goes to stderr, because a program may read stdout.
            done = subprocess.run([*apt, *step], env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr)
            if done.returncode != 0:
                raise MissingPackage(f"`apt-get {' '.join(step)}` failed with code {done.returncode}")
    finally:
        if ours:
            POLICY.unlink()


def forbid_services() -> bool:
    """Makes invoke-rc.d refuse to start services. False if the machine already has a policy."""
    try:
        descriptor = os.open(POLICY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "w") as policy:
        policy.write("#!/bin/sh\nexit 101\n")
    return True
