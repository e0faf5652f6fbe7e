"""A tiny run on the real servers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import BENCH, bench
from harness.placement import placed
from harness.servers import Control

pytestmark = pytest.mark.usefixtures("servers")


def test_a_tiny_run_measures_everything(tmp_path: Path) -> None:
    ran = bench("--quick", "--rounds", "2", "--subjects", "python", "--out", str(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads((tmp_path / "latest.json").read_text())
    assert {(target["subject"], target["passed"]) for target in found["targets"] if target["asserted"]} == {
        ("python", True)
    }
    zookeeper, redis = found["results"]["zookeeper"], found["results"]["redis"]
    assert set(zookeeper["uncontended"]) == {"python", "python-raw", "kazoo-lock"}
    assert set(redis["uncontended"]) == {"python", "python-raw"}
    assert [len(sitting) for sitting in zookeeper["uncontended"]["python"]["rounds"]] == [1, 1]
    assert kinds(zookeeper, "python") == kinds(zookeeper, "python-raw")
    assert kinds(redis, "python") == kinds(redis, "python-raw") == {"EVALSHA": 20}
    assert (zookeeper["wire"]["python"]["requests"], zookeeper["wire"]["python"]["flights"]) == (3, 2)
    assert (redis["wire"]["python"]["requests"], redis["wire"]["python-raw"]["requests"]) == (2, 2)
    for family in (zookeeper, redis):
        assert family["handoff"]["python"]["count"] == 10
        assert family["contended"]["python"]["overlaps"] == 0
        assert family["contended"]["python"]["per_second"] > 0
    assert "python-raw" in ran.stdout
    assert "PASS" in ran.stdout
    assert ElementTree.parse(tmp_path / "latest.svg").getroot().tag.endswith("svg")


def test_a_line_is_handed_on_and_drawn(tmp_path: Path) -> None:
    options = ["--quick", "--only", "zookeeper", "--scenarios", "queue,wakeups,contenders"]
    options += ["--lengths", "10,60", "--subjects", "kazoo-lock,kazoo-read,kazoo-write"]
    ran = bench(*options, "--out", str(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads((tmp_path / "latest.json").read_text())["results"]["zookeeper"]
    ten, sixty = found["queue"]["kazoo-lock"]
    assert (ten["contenders"], sixty["contenders"]) == (10, 60)
    # The delete, and the next contender's list. Only the next contender lists, because a release wakes only
    # one.
    assert (ten["requests"], ten["events"]) == (sixty["requests"], sixty["events"]) == (2, 1)
    assert 3 * ten["bytes_received"] < sixty["bytes_received"]
    assert found["wakeups"] == {
        "kazoo": {
            "ahead": 10,
            "writer": 1,
            "writer_at_worst": 10,
            "reader": 1,
            "readers": 10,
            "bystander": 0,
        }
    }
    # The list, then one contender after the other.
    asked = [
        (look["contenders"], look["requests"], look["flights"]) for look in found["contenders"]["kazoo-lock"]
    ]
    assert asked == [(10, 11, 11), (60, 61, 61)]
    assert "asking who holds and who waits" in ran.stdout
    assert "a hand-off by the length of the line" in ran.stdout
    assert ElementTree.parse(tmp_path / "queue.svg").getroot().tag.endswith("svg")


def test_operations_run_once(tmp_path: Path) -> None:
    options = ["--quick", "--rounds", "2", "--scenarios", "operations"]
    ran = bench(*options, "--subjects", "python-operation", "--out", str(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads((tmp_path / "latest.json").read_text())["results"]
    for family, requests in (("zookeeper", 3), ("redis", 2)):
        operations, wire = found[family]["operations"], found[family]["operations_wire"]
        assert set(operations) == set(wire) == {"python-operation", "python-operation-raw"}
        assert [(each["requests"], each["flights"]) for each in wire.values()] == [(requests, 2)] * 2
        assert len({json.dumps(each["kinds"], sort_keys=True) for each in wire.values()}) == 1


def kinds(family: dict[str, Any], subject: str) -> dict[str, int]:
    """The requests by kind. A list with a stat counts as a list without one."""
    found: dict[str, int] = family["wire"][subject]["kinds"]
    return {kind.removesuffix("2"): count for kind, count in found.items()}


def test_a_floor_is_no_lock(tmp_path: Path) -> None:
    subprocess.run(["make", "--silent", "-C", str(BENCH / "c"), "raw"], check=True)
    ran = bench("--quick", "--only", "redis", "--subjects", "floor", "--out", str(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads((tmp_path / "latest.json").read_text())["results"]["redis"]
    assert set(found["handoff"]) == {"floor"}
    assert found["uncontended"] == found["contended"] == found["wire"] == {}


@pytest.mark.parametrize(("placement", "shared"), [("apart", False), ("together", True)])
def test_server_and_workers_are_where_they_are_to_be(placement: str, shared: bool) -> None:
    control = Control()
    pid = control.pid("redis")
    before = os.sched_getaffinity(0), os.sched_getaffinity(pid)
    with placed("redis", placement, control):
        server, worker = os.sched_getaffinity(pid), os.sched_getaffinity(0)
        assert (len(server), bool(server & worker)) == (1, shared)
        with placed("redis", "free", control), placed("zookeeper", placement, control):
            assert os.sched_getaffinity(0) == worker
    assert (os.sched_getaffinity(0), os.sched_getaffinity(pid)) == before
    control.close()
