"""Members of the ensemble lose their connections to each other, and to clients. Needs root."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from clients import kazoo
from fleet import namespace
from fleet.server import ServerError
from fleet.wire import NoAnswer, exchange, split_address
from support import LONG, Control, finish, processes_in, start, wait_until

OPTIONS = ("run", "--ensemble", "--namespaces")
MEMBERS = ("ensemble-1", "ensemble-2", "ensemble-3")


@pytest.fixture(scope="module")
def members() -> Iterator[dict[str, str]]:
    """The variables of a run in namespaces."""
    before = links()
    process = start(*OPTIONS)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    yield json.loads(line)
    finish(process)
    assert links() == before


@pytest.fixture
def control(members: dict[str, str]) -> Iterator[Control]:
    """A control connection. After the test, all members run and are connected again."""
    control = Control(members["FENCEPOST_SERVERS"])
    yield control
    for name in MEMBERS:
        control.do(f"start {name}")
        control.do(f"heal {name}")
    control.close()


def links() -> tuple[str, str]:
    """Things that must not remain: named namespaces, and network interfaces of this namespace."""
    commands = (["ip", "netns", "list"], ["ip", "-brief", "link"])
    named, interfaces = (subprocess.run(command, capture_output=True, text=True) for command in commands)
    return named.stdout, interfaces.stdout


def mode(address: str) -> str:
    """The mode that a member reports; empty while it serves no client or is silent."""
    try:
        answer = asyncio.run(exchange(*split_address(address), b"srvr", timeout=0.5)).decode()
    except NoAnswer:
        return ""
    return next((line.split()[1] for line in answer.splitlines() if line.startswith("Mode: ")), "")


def test_a_leader_that_is_cut_off_is_replaced_and_follows_when_healed(
    control: Control, members: dict[str, str]
) -> None:
    old = control.do("leader")
    assert old["contact"] == "everybody"
    assert control.do(f"cut {old['name']}")["contact"] == "clients"
    new = control.do("leader")
    assert new["name"] != old["name"]
    # Its clients can still connect, but its reply is that it serves no client.
    wait_until(lambda: mode(old["address"]) == "", "the old leader has given up")
    answer = asyncio.run(exchange(*split_address(old["address"]), b"srvr")).decode()
    assert "not currently serving requests" in answer
    others = ",".join(
        address for address in members["FENCEPOST_ZOOKEEPER_ENSEMBLE"].split(",") if address != old["address"]
    )
    with kazoo(others) as client:
        client.create("/while-cut", b"value")
        assert control.do(f"heal {old['name']}")["contact"] == "everybody"
        wait_until(lambda: mode(old["address"]) == "follower", "the old leader follows")
        assert control.do("leader")["name"] == new["name"]
        with kazoo(old["address"]) as late:
            late.sync("/")
            assert late.get("/while-cut")[0] == b"value"
        client.delete("/while-cut")


def test_a_follower_that_is_cut_off_answers_reads_until_it_notices(control: Control) -> None:
    leader = control.do("leader")["name"]
    follower = next(server for server in control.do("list")["servers"] if server["name"] != leader)
    with kazoo(follower["address"]) as client:
        client.create("/kept", b"value", ephemeral=True)
        control.do(f"cut {follower['name']}")
        assert client.get("/kept")[0] == b"value"
        wait_until(lambda: mode(follower["address"]) == "", "it has noticed")
    assert control.do("leader")["name"] == leader


def test_an_isolated_member_keeps_connections_and_says_nothing(control: Control) -> None:
    old = control.do("leader")
    with kazoo(old["address"]) as client:
        assert control.do(f"isolate {old['name']}")["contact"] == "nobody"
        asked = client.get_async("/")
        assert mode(old["address"]) == ""
        assert not asked.ready()
        assert control.do("leader")["name"] != old["name"]
        control.do(f"heal {old['name']}")
        wait_until(lambda: mode(old["address"]) == "follower", "it follows")


def test_a_minority_has_no_leader(control: Control) -> None:
    for name in MEMBERS[:2]:
        control.do(f"cut {name}")
    assert "1 of 3 members run and are not cut off" in control.fail("leader")
    control.do(f"kill {MEMBERS[0]}")
    assert control.do(f"start {MEMBERS[0]}")["contact"] == "clients"
    for name in MEMBERS[:2]:
        control.do(f"heal {name}")
    control.do("leader")


def test_only_members_in_namespaces_can_be_cut_off() -> None:
    process = start("run", "--ensemble", "--redis", "1")
    assert process.stdout is not None
    control = Control(json.loads(process.stdout.readline())["FENCEPOST_SERVERS"])
    for name in ("redis-1", "ensemble-1"):
        for verb in ("cut", "isolate", "heal"):
            assert f"{name} has no network namespace" in control.fail(f"{verb} {name}")
    assert "contact" not in control.do("start ensemble-1")
    control.close()
    finish(process)


def test_sigkill_leaves_no_process_no_namespace_and_no_cable(tmp_path: Path) -> None:
    before = links()
    process = start(*OPTIONS, tmp=tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    servers = processes_in(tmp_path)
    spaces = {os.readlink(f"/proc/{pid}/ns/net") for pid in servers}
    assert len(servers) == len(spaces) == 3
    assert os.readlink("/proc/self/ns/net") not in spaces
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=LONG)
    wait_until(lambda: not processes_in(tmp_path), "the servers are gone")
    assert links() == before
    left = subprocess.run(["lsns", "-t", "net", "-n", "-o", "NS"], capture_output=True, text=True).stdout
    assert not spaces & {f"net:[{number}]" for number in left.split()}


def test_without_the_right_it_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        """A system that denies the operation."""

        def unshare(self, _flags: int) -> int:
            return -1

        def setns(self, _file: int, _flags: int) -> int:
            return 0

    monkeypatch.setattr(namespace, "_libc", Refusing())
    with pytest.raises(ServerError, match="network namespaces need root"):
        namespace.Namespace()
