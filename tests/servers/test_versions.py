"""The servers have the selected version of ZooKeeper, or the start fails with an error that names it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from fleet import jars, packages
from fleet.wire import exchange, split_address
from support import finish, start


def versions(addresses: str) -> list[str]:
    """The versions that the servers report."""
    found = []
    for address in addresses.split(","):
        answer = asyncio.run(exchange(*split_address(address), b"srvr")).decode()
        found.append(answer.splitlines()[0].removeprefix("Zookeeper version: "))
    return found


@pytest.mark.parametrize("version", [*jars.VERSIONS, *jars.OLD])
def test_all_servers_are_of_the_version_that_was_asked_for(version: str) -> None:
    process = start("run", "--zookeeper", "--ensemble", "--zookeeper-version", version)
    assert process.stdout is not None
    variables = json.loads(process.stdout.readline())
    assert variables["FENCEPOST_ZOOKEEPER_VERSION"] == version
    found = versions(variables["FENCEPOST_ZOOKEEPER"] + "," + variables["FENCEPOST_ZOOKEEPER_ENSEMBLE"])
    assert len(found) == 4
    assert all(text.startswith(version + ".") for text in found)
    finish(process)


def test_another_version_is_an_error_that_lists_what_there_is() -> None:
    process = start("run", "--zookeeper", "--zookeeper-version", "3.7")
    _, errors = process.communicate()
    assert process.returncode == 2
    assert "invalid choice: '3.7'" in errors
    assert all(version in errors for version in (*jars.VERSIONS, *jars.OLD))


def test_a_version_that_cannot_be_fetched_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "fetch"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(jars, "ROOT", tmp_path)
    monkeypatch.setattr(jars, "FETCHED", tmp_path)
    monkeypatch.setattr(jars, "FETCHED_OLD", tmp_path)
    monkeypatch.setattr(jars, "FETCH", script)
    for version in ("3.9", "3.4"):
        with pytest.raises(
            packages.MissingPackage, match=f"ZooKeeper {version} is missing, and fetch could not get it"
        ):
            jars.ensure(version)
