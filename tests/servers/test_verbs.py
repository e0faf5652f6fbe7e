"""The verbs of the control port, on real servers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from clients import kazoo, redis, redis_at
from support import LONG, SCRIPT, Control, is_alive, wait_until

NAMES = [
    "zookeeper",
    "ensemble-1",
    "ensemble-2",
    "ensemble-3",
    "redis-1",
    "redis-2",
    "redis-auth",
    "redis-tls",
]


def test_list(control: Control, addresses: dict[str, str]) -> None:
    servers = control.do("list")["servers"]
    assert [server["name"] for server in servers] == NAMES
    assert {server["state"] for server in servers} == {"running"}
    assert servers[0]["address"] == addresses["FENCEPOST_ZOOKEEPER"]
    assert all(is_alive(server["pid"]) for server in servers)


@pytest.mark.parametrize("verb", ["kill", "stop"])
@pytest.mark.parametrize("name", ["redis-1", "zookeeper"])
def test_a_server_ends_and_starts_again_at_its_address(control: Control, verb: str, name: str) -> None:
    before = control.do(f"start {name}")  # runs already
    gone = control.do(f"{verb} {name}")
    assert (gone["state"], gone["pid"]) == ("stopped", None)
    assert not is_alive(before["pid"])
    assert control.do(f"{verb} {name}") == gone
    after = control.do(f"start {name}")
    assert after == {**before, "pid": after["pid"]}
    assert after["pid"] != before["pid"]


def test_zookeeper_keeps_its_data_and_redis_does_not(control: Control, addresses: dict[str, str]) -> None:
    connection = redis_at(addresses["FENCEPOST_REDIS"])
    connection.set("key", "value")
    with kazoo(addresses["FENCEPOST_ZOOKEEPER"]) as client:
        client.create("/kept", b"value")
        control.do("kill zookeeper")
        control.do("start zookeeper")
        control.do("restart redis-1")
        assert client.retry(client.get, "/kept")[0] == b"value"
        client.retry(client.delete, "/kept")
    assert connection.get("key") is None


def test_a_paused_server_does_nothing_until_resumed(control: Control, addresses: dict[str, str]) -> None:
    connection = redis_at(addresses["FENCEPOST_REDIS"], socket_timeout=0.1)
    assert control.do("pause redis-1")["state"] == "paused"
    assert control.do("pause redis-1")["state"] == "paused"
    with pytest.raises(redis.TimeoutError):
        connection.ping()
    assert "resume it first" in control.fail("start redis-1")
    assert control.do("resume redis-1")["state"] == "running"
    assert control.do("resume redis-1")["state"] == "running"
    wait_until(connection.ping, "redis-1 answers")


@pytest.mark.parametrize("name", ["redis-1", "zookeeper"])
def test_a_paused_server_has_stopped_when_the_pause_returns(control: Control, name: str) -> None:
    for _ in range(20):
        tasks = Path(f"/proc/{control.do(f'pause {name}')['pid']}/task")
        states = [stat.read_text().rpartition(")")[2].split()[0] for stat in tasks.glob("*/stat")]
        control.do(f"resume {name}")
        assert set(states) == {"T"}


@pytest.mark.parametrize("verb", ["kill", "stop"])
def test_a_paused_server_can_be_ended(control: Control, verb: str) -> None:
    control.do("pause redis-1")
    assert control.do(f"{verb} redis-1")["state"] == "stopped"
    assert "start it first" in control.fail("pause redis-1")
    assert "start it first" in control.fail("resume redis-1")


def test_another_member_leads_when_the_leader_is_gone(control: Control) -> None:
    leader = control.do("leader")["name"]
    control.do(f"kill {leader}")
    second = control.do("leader")["name"]
    assert second != leader
    control.do(f"pause {second}")
    assert "1 of 3 members run" in control.fail("leader")
    control.do(f"kill {second}")
    control.do(f"start {second}")
    control.do("leader")


def test_members_start_without_a_quorum(control: Control) -> None:
    members = [name for name in NAMES if name.startswith("ensemble")]
    for name in members:
        control.do(f"kill {name}")
    for name in members:
        assert control.do(f"start {name}")["state"] == "running"
    assert control.do("leader")["name"] in members


def test_flush(control: Control, addresses: dict[str, str]) -> None:
    password = addresses["FENCEPOST_REDIS_AUTH_PASSWORD"]
    connection = redis_at(addresses["FENCEPOST_REDIS_AUTH"], password=password)
    connection.set("key", "value")
    control.do("flush redis-auth")
    assert connection.get("key") is None
    assert "only a redis" in control.fail("flush zookeeper")
    with pytest.raises(redis.AuthenticationError):
        redis_at(addresses["FENCEPOST_REDIS_AUTH"]).ping()


@pytest.mark.parametrize("servers", ["ZOOKEEPER", "ZOOKEEPER_ENSEMBLE"])
def test_expire_ends_a_session_at_once(control: Control, addresses: dict[str, str], servers: str) -> None:
    hosts = addresses[f"FENCEPOST_{servers}"]
    with kazoo(hosts) as owner, kazoo(hosts) as watcher:
        states: list[str] = []
        owner.add_listener(states.append)
        owner.create("/ephemeral", ephemeral=True)
        watcher.sync("/")
        assert watcher.exists("/ephemeral")
        number, password = owner.client_id
        target = hosts.split(",")[-1]
        assert "no session" in control.fail(f"expire {target} {number} {'00' * 16}")
        answer = control.do(f"expire {target} {number} {password.hex()}")
        assert int(answer["session"], 16) == number % (1 << 64)
        watcher.sync("/")
        assert not watcher.exists("/ephemeral")
        wait_until(lambda: "LOST" in states, "the owner learns that its session has expired")
        assert "no session" in control.fail(f"expire {target} {hex(number)} {password.hex()}")


def test_expire_takes_a_name_and_every_form_of_a_session_id(control: Control) -> None:
    for session in ("-5", "0xfffffffffffffffb", "18446744073709551611"):
        assert "no session 0xfffffffffffffffb" in control.fail(f"expire zookeeper {session} 00")
    assert "not a session id" in control.fail("expire zookeeper five 00")
    assert "not an address" in control.fail("expire somewhere 5 00")
    assert "hexadecimal" in control.fail("expire zookeeper 5 xx")
    assert "out of range" in control.fail("expire zookeeper 0x10000000000000000 00")


def test_mistakes_are_answered_with_what_exists(control: Control) -> None:
    assert "restart NAME" in control.fail("jump")
    assert "restart NAME" in control.fail("")
    assert "usage: kill NAME" in control.fail("kill")
    assert ", ".join(NAMES) in control.fail("kill redis-9")
    assert control.do("list")["ok"]


def test_several_connections_do_not_wait_for_each_other(control: Control, addresses: dict[str, str]) -> None:
    other = Control(addresses["FENCEPOST_SERVERS"])
    control.do("kill zookeeper")
    control._socket.sendall(b"start zookeeper\n")
    states = [server["state"] for server in other.do("list")["servers"]]
    assert states[1:] == ["running"] * (len(NAMES) - 1)
    assert '"running"' in control._lines.readline()
    other.close()


def test_the_command_line_client(addresses: dict[str, str]) -> None:
    def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(SCRIPT), "do", *words]
        environment = {**os.environ, **addresses, **variables}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONG)

    done = run("list")
    assert (done.returncode, done.stdout[:11], done.stderr) == (0, '{"ok": true', "")
    for done in (
        run("kill", "nobody"),
        run("expire", "zookeeper", "-5", "00"),
        run("list", FENCEPOST_SERVERS=""),
        run("list", FENCEPOST_SERVERS="127.0.0.1:1"),
        run("list", FENCEPOST_SERVERS="nonsense"),
    ):
        assert (done.returncode, done.stdout[:12], done.stderr) == (1, '{"ok": false', "")


LARGEST = 2**31 - 1


def test_numbers_of_children_go_on_from_a_given_number(control: Control, addresses: dict[str, str]) -> None:
    with kazoo(addresses["FENCEPOST_ZOOKEEPER"]) as client:
        for path in ("/near", "/past", "/other"):
            client.create(path, b"kept")
            client.create(f"{path}/first-", sequence=True)
        control.do(f"renumber zookeeper {LARGEST - 1} /near")
        control.do(f"renumber zookeeper {LARGEST} /past")

        def made(path: str) -> str:
            return str(client.retry(client.create, f"{path}/next-", sequence=True).rpartition("-")[2])

        assert made("/near") == str(LARGEST - 1)
        # The counter stops at its end.
        assert made("/past") == str(LARGEST)
        assert client.get("/past")[0] == b"kept"
        assert made("/other") == "0000000001"
        control.do("restart zookeeper")
        assert made("/near") == str(LARGEST)
        for path in ("/near", "/past", "/other"):
            client.retry(client.delete, path, recursive=True)


def test_what_has_no_numbers_or_larger_ones_stays_as_it_is(
    control: Control, addresses: dict[str, str]
) -> None:
    assert "no ZooKeeper" in control.fail("renumber redis-1 5 /")
    assert "member of an ensemble" in control.fail("renumber ensemble-1 5 /")
    with kazoo(addresses["FENCEPOST_ZOOKEEPER"]) as client:
        client.create("/counted/first-", sequence=True, makepath=True)
        assert "goes on with 1 already" in control.fail("renumber zookeeper 0 /counted")
        assert client.retry(client.create, "/counted/next-", sequence=True) == "/counted/next-0000000001"
        client.delete("/counted", recursive=True)
