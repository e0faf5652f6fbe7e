"""A server that does not run, or does not reply: a waiter gets an error in time, with the reason."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from fencepost._engine.closing import CONFIRM_WITHIN
from fencepost.drivers.kazoo import KazooDriver
from kazoo.client import KazooClient
from support import BRIEF, LONG, Backend, Control, options, wait_until, wait_until_async, with_session

#: No server listens there.
ABSENT = ["zk://127.0.0.1:1", "redis://127.0.0.1:1"]
#: Long enough for a first attempt to connect, even on a busy machine.
WITHIN = 1.5


@pytest.fixture
def silent_server() -> Iterator[str]:
    """The address of a server that accepts connections and does not reply."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def check(error: fencepost.Refused, url: str) -> None:
    """Checks that the error has the problem, the address and the remedy."""
    assert (error.code, error.name) == (304, "unreachable")
    text = str(error)
    assert text.startswith("stock/42: ")
    assert url.partition("://")[2] in text
    assert "Check the address" in text
    assert isinstance(error.__cause__, Exception)
    assert str(error.__cause__) in text


@pytest.mark.parametrize("url", ABSENT)
def test_an_acquire_without_a_limit(url: str) -> None:
    with fencepost.connect(url, connect_timeout=WITHIN) as client:
        for _ in range(2):
            with pytest.raises(fencepost.Refused) as error:
                client.lock("stock/42").acquire()
            check(error.value, url)


@pytest.mark.parametrize("url", ABSENT)
def test_a_limit_that_is_shorter(url: str) -> None:
    with fencepost.connect(url) as client, pytest.raises(fencepost.Refused) as error:
        client.lock("stock/42").acquire(timeout=WITHIN)
    check(error.value, url)


@pytest.mark.parametrize("url", ABSENT)
def test_a_limit_that_is_longer(url: str) -> None:
    with fencepost.connect(url, connect_timeout=WITHIN) as client, pytest.raises(fencepost.Refused) as error:
        client.lock("stock/42").acquire(timeout=LONG)
    check(error.value, url)


@pytest.mark.parametrize("url", ABSENT)
async def test_below_a_loop(url: str) -> None:
    async with fencepost.asyncio.connect(url, connect_timeout=WITHIN) as client:
        with pytest.raises(fencepost.Refused) as error:
            await asyncio.wait_for(client.lock("stock/42").acquire(), LONG)
        check(error.value, url)


@pytest.mark.parametrize("url", ABSENT)
def test_the_limit_of_a_program_that_gives_none(url: str) -> None:
    with fencepost.connect(url) as client:
        begun = time.monotonic()
        with pytest.raises(fencepost.Refused) as error:
            client.lock("stock/42").acquire()
        assert time.monotonic() - begun >= 4.9
        check(error.value, url)


@pytest.mark.parametrize("url", ABSENT)
async def test_that_limit_below_a_loop(url: str) -> None:
    async with fencepost.asyncio.connect(url) as client:
        begun = time.monotonic()
        with pytest.raises(fencepost.Refused) as error:
            await asyncio.wait_for(client.lock("stock/42").acquire(), 2 * LONG)
        assert time.monotonic() - begun >= 4.9
        check(error.value, url)


def other_kind(server: Backend) -> str:
    """The address of this server with the other kind's scheme."""
    return f"{'redis' if server.kind == 'zookeeper' else 'zk'}://{server.address}"


def test_another_kind_of_server(server: Backend) -> None:
    url = other_kind(server)
    client = fencepost.connect(url, connect_timeout=3)
    with pytest.raises(fencepost.Refused) as error:
        client.lock("stock/42").acquire()
    check(error.value, url)
    # The client has never reached the server, so nothing is left on it.
    client.close()


async def test_another_kind_of_server_below_a_loop(server: Backend) -> None:
    url = other_kind(server)
    client = fencepost.asyncio.connect(url, connect_timeout=3)
    with pytest.raises(fencepost.Refused) as error:
        await asyncio.wait_for(client.lock("stock/42").acquire(), LONG)
    check(error.value, url)
    await client.close()


@pytest.mark.parametrize("scheme", ["zk", "redis"])
def test_a_host_that_does_not_exist(scheme: str) -> None:
    url = f"{scheme}://no-such-host.invalid:1234"
    with fencepost.connect(url, connect_timeout=WITHIN) as client, pytest.raises(fencepost.Refused) as error:
        client.lock("stock/42").acquire()
    check(error.value, url)
    assert isinstance(error.value.__cause__, OSError) or "no-such-host" in str(error.value.__cause__)


@pytest.mark.parametrize("host", ["a" * 70, "a..b"])
def test_a_host_that_cannot_exist(host: str) -> None:
    url = f"zk://{host}:2181"
    with fencepost.connect(url, connect_timeout=WITHIN) as client, pytest.raises(fencepost.Refused) as error:
        client.lock("stock/42").acquire()
    check(error.value, url)


def test_a_client_of_the_caller_s_own_that_does_not_connect() -> None:
    kazoo = KazooClient(hosts="127.0.0.1:1")
    kazoo.start_async()
    with fencepost.Client(kazoo, connect_timeout=WITHIN) as client:
        with pytest.raises(fencepost.Refused) as error:
            client.lock("stock/42").acquire()
        check(error.value, ABSENT[0])
    kazoo.stop()
    kazoo.close()


@pytest.mark.parametrize(
    ("within", "name"),
    [(0, "not-positive"), (-1, "not-positive"), (1e9, "too-long"), ("5", "unreadable-settings")],
)
def test_a_limit_that_makes_no_sense(within: Any, name: str) -> None:
    with pytest.raises(fencepost.ConfigError, match=f"connect_timeout is {within!r}") as error:
        fencepost.connect("memory:", connect_timeout=within)
    assert error.value.name == name


def test_a_server_that_comes_later(server: Backend, control: Control) -> None:
    # The port of a proxy to a server that is down: it accepts connections, and closes them.
    proxy = control.do(f"proxy {server.server}")
    control.do(f"kill {server.server}")
    with fencepost.connect(server.at(proxy["address"]), connect_timeout=LONG) as client:
        lock = client.lock(server.name())
        control.do(f"start {server.server}")
        with lock.hold(timeout=LONG):
            pass
        # The client has reached the server. From now on only the acquire's own timeout limits its wait.
        control.do(f"kill {server.server}")
        with pytest.raises(fencepost.Refused) as error:
            lock.acquire(timeout=BRIEF)
        assert error.value.name == "unreachable"
        control.do(f"start {server.server}")
        with lock.hold(timeout=LONG):
            pass


#: With `short_close`, a close takes 1 s. Any other cause of its end takes longer than this.
CLOSE = LONG / 2


@pytest.fixture
def short_close(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A close waits for 1 s instead of 5 s. The end of a connection takes longer than CLOSE."""
    is_over = threading.Event()
    assert CONFIRM_WITHIN == 5.0
    monkeypatch.setattr("fencepost._client.client.CONFIRM_WITHIN", 1.0)
    monkeypatch.setattr("fencepost.asyncio._client.CONFIRM_WITHIN", 1.0)
    # The background thread for Redis may need 5 s to connect.
    monkeypatch.setattr("fencepost.drivers.redis._background.JOIN_WITHIN", LONG)
    stop = KazooDriver._stop

    def stop_late(driver: KazooDriver) -> None:
        is_over.wait(LONG)
        stop(driver)

    monkeypatch.setattr(KazooDriver, "_stop", stop_late)
    yield
    is_over.set()


@pytest.mark.usefixtures("short_close")
@pytest.mark.parametrize("warm", [True, False], ids=["connected", "never-connected"])
def test_a_close_while_the_server_is_silent(server: Backend, control: Control, warm: bool) -> None:
    client = fencepost.connect(with_session(server.url, 60_000))
    if warm:
        held = client.lock(server.name(), **options(server, 60)).acquire()
        assert held is not None
    control.do(f"pause {server.server}")
    begun = time.monotonic()
    with suppress(fencepost.CleanupIncomplete):
        client.close()
    took = time.monotonic() - begun
    control.do(f"resume {server.server}")
    assert took < CLOSE


@pytest.mark.usefixtures("short_close")
@pytest.mark.parametrize("warm", [True, False], ids=["connected", "never-connected"])
async def test_so_below_a_loop(server: Backend, control: Control, warm: bool) -> None:
    client = fencepost.asyncio.connect(with_session(server.url, 60_000))
    if warm:
        held = await client.lock(server.name(), **options(server, 60)).acquire()
        assert held is not None
    await asyncio.to_thread(control.do, f"pause {server.server}")
    begun = time.monotonic()
    with suppress(fencepost.CleanupIncomplete):
        await client.close()
    took = time.monotonic() - begun
    await asyncio.to_thread(control.do, f"resume {server.server}")
    assert took < CLOSE


def waiting(client: fencepost.Client) -> tuple[threading.Thread, list[str]]:
    """A thread that acquires, and the list for the name of its error."""
    errors: list[str] = []

    def wait() -> None:
        try:
            client.lock("stock/42").acquire()
        except fencepost.FencepostError as error:
            errors.append(error.name)

    waiter = threading.Thread(target=wait)
    waiter.start()
    return waiter, errors


@pytest.mark.usefixtures("short_close")
@pytest.mark.parametrize("scheme", ["zk", "redis"])
def test_a_close_beside_a_server_that_says_nothing(silent_server: str, scheme: str) -> None:
    client = fencepost.connect(f"{scheme}://{silent_server}", connect_timeout=LONG)
    with pytest.raises(fencepost.Refused):
        client.lock("stock/42").acquire(timeout=WITHIN)
    waiter, errors = waiting(client)
    wait_until(lambda: client._engine.hub.pending, "it waits")
    begun = time.monotonic()
    # The client has never sent a command, so nothing is left.
    client.close()
    assert time.monotonic() - begun < CLOSE
    assert client.closed
    waiter.join(LONG)
    assert errors == ["client-closed"]


@pytest.mark.usefixtures("short_close")
@pytest.mark.parametrize("scheme", ["zk", "redis"])
async def test_so_it_is_below_a_loop(silent_server: str, scheme: str) -> None:
    client = fencepost.asyncio.connect(f"{scheme}://{silent_server}", connect_timeout=LONG)
    with pytest.raises(fencepost.Refused):
        await client.lock("stock/42").acquire(timeout=WITHIN)
    waiter = asyncio.create_task(client.lock("stock/42").acquire())
    await wait_until_async(lambda: client._engine.hub.pending, "it waits")
    begun = time.monotonic()
    await client.close()
    assert time.monotonic() - begun < CLOSE
    assert client.closed
    with pytest.raises(fencepost.MisuseError, match="closed"):
        await waiter


@pytest.mark.parametrize("url", ABSENT)
def test_a_close_during_a_wait_for_an_absent_server(url: str) -> None:
    client = fencepost.connect(url, connect_timeout=LONG)
    waiter, errors = waiting(client)
    wait_until(lambda: client._engine.reachability.last_error, "it has tried to connect")
    # A command that was never sent leaves nothing on the server.
    client.close()
    waiter.join(LONG)
    assert errors == ["client-closed"]
