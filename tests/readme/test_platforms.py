"""The page of supported versions matches the manifests and the versions that the tests use."""

from __future__ import annotations

import json
import re

import pytest
from running import source

PAGE = source("docs/reference/platforms.md")


def one(path: str, pattern: str) -> str:
    """The text that matches a pattern exactly once in a file."""
    (found,) = re.findall(pattern, source(path), re.MULTILINE)
    return str(found)


def below(bound: str) -> str:
    """The last version before a bound: 2.11 before 2.12, 8 before 9."""
    *parts, last = bound.split(".")
    return ".".join([*parts, str(int(last) - 1)])


def of_python(library: str) -> str:
    """The version range of a library in an extra."""
    first, beyond = re.findall(rf'"{library}>=([\d.]+),<([\d.]+)"', source("bindings-py/pyproject.toml"))[0]
    return f"{first} to {below(beyond)}"


def of_javascript(library: str) -> str:
    """The version range of a peer dependency."""
    given = json.loads(source("bindings-wasm/package.json"))["peerDependencies"][library]
    bounds = re.fullmatch(r">=(\d+) <(\d+)", given)
    return f"{bounds[1]} and {below(bounds[2])}" if bounds else str(given)


def of_rust(crate: str) -> str:
    """The oldest version of a dependency. A later line of the manifest adds features for the tests."""
    return str(
        re.findall(rf'^{crate} = . version = "([\d.]+)"', source("bindings-rs/Cargo.toml"), re.MULTILINE)[0]
    )


def of_servers(path: str, pattern: str) -> str:
    return " and ".join(sorted(re.findall(pattern, source(path), re.MULTILINE)))


PYTHONS = one("tools/setup", r"for version in (3[\d. ]+); do").split()
SAID = {
    "Python": f"{one('bindings-py/pyproject.toml', r'requires-python = .>=(3[.0-9]+)')} and later",
    "tested in Python": f"{PYTHONS[0]} to {PYTHONS[-1]}",
    "Node.js": f"Node.js {one('bindings-wasm/package.json', r'.node.: .>=([0-9.]+).')} and later",
    "Rust": f"{one('Cargo.toml', r'^rust-version = .([0-9.]+)')} and later",
    "tokio": f"tokio {of_rust('tokio')} and later",
    "kazoo": f"kazoo {of_python('kazoo')}",
    "redis-py": f"redis-py {of_python('redis')}",
    "node-zookeeper-client": f"node-zookeeper-client {of_javascript('node-zookeeper-client')}",
    "redis": f"redis {of_javascript('redis')};",
    "ioredis": f"ioredis {of_javascript('ioredis')}",
    "zookeeper-client": f"zookeeper-client {of_rust('zookeeper-client')}",
    "redis-rs": f"redis {of_rust('redis')} and later",
    "ZooKeeper": of_servers("tests/servers/fleet/jars.py", r'^(?:DEBIAN|CENTRAL) = "(.*)"'),
    "Redis": f"| {of_servers('tests/redis-servers/servers.py', r'redis-([0-9.]+)')} |",
    "Valkey": f"| {of_servers('tests/redis-servers/servers.py', r'.valkey-([0-9.]+).:')} |",
}


@pytest.mark.parametrize("name", SAID)
def test_the_page_says_what_the_sources_say(name: str) -> None:
    assert SAID[name] in PAGE
