"""The life of a run: the environment of the command, and the removal of everything at the end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from fleet import packages
from fleet.workspace import PREFIX
from support import LONG, Control, finish, is_alive, processes_in, start, wait_until

WAIT = "import signal; signal.signal(2, signal.SIG_DFL); print(flush=True); signal.pause()"
PRINT_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"


def environment(*arguments: str) -> dict[str, str]:
    """The variables that a command gets."""
    output = finish(start("run", *arguments, "--", sys.executable, "-c", PRINT_ENVIRONMENT))
    return {name: value for name, value in json.loads(output).items() if name.startswith("FENCEPOST_")}


def directory_in(tmp: Path) -> Path:
    """The directory of the only run in `tmp`, after the start of its servers."""

    def look() -> list[Path]:
        return [path for path in tmp.glob(PREFIX + "*") if processes_in(path)]

    (directory,) = wait_until(look, "the servers are started")
    return Path(directory)


def assert_nothing_left(tmp: Path) -> None:
    assert list(tmp.iterdir()) == []
    assert processes_in(tmp) == []


def ready_line(process: subprocess.Popen[str]) -> str:
    """The line that the process prints when it is ready."""
    assert process.stdout is not None
    return process.stdout.readline()


def test_the_command_gets_the_addresses_of_all_servers() -> None:
    variables = environment()
    assert set(variables) == {
        "FENCEPOST_SERVERS",
        "FENCEPOST_ZOOKEEPER",
        "FENCEPOST_ZOOKEEPER_ENSEMBLE",
        "FENCEPOST_ZOOKEEPER_VERSION",
        "FENCEPOST_REDIS",
        "FENCEPOST_REDIS_2",
        "FENCEPOST_REDIS_AUTH",
        "FENCEPOST_REDIS_AUTH_PASSWORD",
        "FENCEPOST_REDIS_TLS",
        "FENCEPOST_REDIS_TLS_PASSWORD",
        "FENCEPOST_REDIS_TLS_CA",
        "FENCEPOST_REDIS_TLS_OTHER_CA",
    }
    assert variables.pop("FENCEPOST_REDIS_AUTH_PASSWORD") != variables.pop("FENCEPOST_REDIS_TLS_PASSWORD")
    assert variables.pop("FENCEPOST_REDIS_TLS_CA") != variables.pop("FENCEPOST_REDIS_TLS_OTHER_CA")
    assert variables.pop("FENCEPOST_ZOOKEEPER_VERSION") == "3.8"
    addresses = ",".join(variables.values()).split(",")
    assert len(set(addresses)) == 9
    assert all(address.startswith("127.0.0.1:") for address in addresses)


def test_only_the_wanted_servers_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FENCEPOST_ZOOKEEPER", "from an outer run")
    monkeypatch.setenv("FENCEPOST_OTHER", "kept")
    assert set(environment("--redis", "3")) == {
        "FENCEPOST_SERVERS",
        "FENCEPOST_REDIS",
        "FENCEPOST_REDIS_2",
        "FENCEPOST_REDIS_3",
        "FENCEPOST_OTHER",
    }


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_code_is_the_commands(script: str, code: int, tmp_path: Path) -> None:
    finish(start("run", "--redis", "1", "--", "sh", "-c", script, tmp=tmp_path), code)
    assert_nothing_left(tmp_path)


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    process = start("run", "--", "no-such-command", tmp=tmp_path)
    _, errors = process.communicate(timeout=LONG)
    assert process.returncode == 127
    assert "no-such-command" in errors


def test_what_the_command_leaves_running_is_ended(tmp_path: Path) -> None:
    process = start("run", "--redis", "1", "--", "sh", "-c", "sleep 1000 & echo $!", tmp=tmp_path)
    pid = int(finish(process))
    wait_until(lambda: not is_alive(pid), "the command's child is gone")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_command_and_the_servers(number: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-c", WAIT]
    process = start("run", "--redis", "1", "--zookeeper", "--", *command, tmp=tmp_path)
    ready_line(process)
    process.send_signal(number)
    finish(process, 128 + number)
    assert_nothing_left(tmp_path)


def test_the_command_may_handle_the_signal(tmp_path: Path) -> None:
    script = "import signal, sys; signal.signal(15, lambda *_: sys.exit(5));print(flush=True); signal.pause()"
    process = start("run", "--redis", "1", "--", sys.executable, "-c", script, tmp=tmp_path)
    ready_line(process)
    process.terminate()
    finish(process, 5)


def test_a_signal_while_the_servers_start(tmp_path: Path) -> None:
    process = start("run", "--ensemble", "--", "true", tmp=tmp_path)
    directory_in(tmp_path)
    process.terminate()
    finish(process, 128 + signal.SIGTERM)
    assert_nothing_left(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, None])
def test_without_a_command_it_stays_until_it_is_stopped(
    number: signal.Signals | None, tmp_path: Path
) -> None:
    process = start("run", "--redis", "1", tmp=tmp_path)
    variables = json.loads(ready_line(process))
    assert set(variables) == {"FENCEPOST_SERVERS", "FENCEPOST_REDIS"}
    control = Control(variables["FENCEPOST_SERVERS"])
    proxied = control.do("proxy redis-1")["address"].split(":")
    assert process.poll() is None
    with socket.create_connection((proxied[0], int(proxied[1]))) as waiting:
        waiting.sendall(b"BLPOP list 0\r\n")
        wait_until(lambda: control.do("proxy-count p1")["total"], "the request came to the proxy")
        if number is not None:
            process.send_signal(number)
        finish(process)  # closes its input
    control.close()
    assert_nothing_left(tmp_path)


def test_sigkill_leaves_no_process_and_the_next_run_removes_the_directory(tmp_path: Path) -> None:
    script = "echo $$; sleep 1000"
    process = start("run", "--redis", "1", "--zookeeper", "--", "sh", "-c", script, tmp=tmp_path)
    command = int(ready_line(process))
    stale = directory_in(tmp_path)
    assert len(processes_in(stale)) == 2
    process.kill()
    process.wait(LONG)
    wait_until(lambda: not processes_in(stale), "the servers are gone")
    wait_until(lambda: not is_alive(command), "the command is gone")
    assert stale.exists()
    finish(start("run", "--redis", "1", "--", "true", tmp=tmp_path))
    assert_nothing_left(tmp_path)


def test_a_run_does_not_remove_the_directory_of_a_living_one(tmp_path: Path) -> None:
    first = start("run", "--redis", "1", tmp=tmp_path)
    ready_line(first)
    directory = directory_in(tmp_path)
    finish(start("run", "--redis", "1", "--", "true", tmp=tmp_path))
    assert directory.exists()
    finish(first)
    assert_nothing_left(tmp_path)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "present", lambda package: False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(packages.MissingPackage, match=r"apt-get install zookeeper"):
        packages.ensure([packages.ZOOKEEPER])


def test_packages_are_installed_without_starting_services(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log, policy = tmp_path / "log", tmp_path / "policy-rc.d"
    apt = tmp_path / "apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >> {log}; {policy}; echo policy $? >> {log}\n')
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(packages, "POLICY", policy)
    packages.install(["redis-server", "zookeeper"])
    update, first, install, second = log.read_text().splitlines()
    assert update.endswith("update")
    assert install.endswith("install --no-install-recommends redis-server zookeeper")
    assert first == second == "policy 101"
    assert not policy.exists()
