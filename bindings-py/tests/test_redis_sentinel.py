"""The program's own client, which gets the address of the primary from sentinels."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import redis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel
from support import LONG, RedisBackend, wait_until


@pytest.fixture
def sentinel(redis_server: RedisBackend, tmp_path: Path) -> Iterator[int]:
    """The port of a sentinel that watches the server under the name ``stock``."""
    host, watched = redis_server.address.split(":")
    settings = tmp_path / "sentinel.conf"
    while True:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        settings.write_text(f"port {port}\nsentinel monitor stock {host} {watched} 1\ndir {tmp_path}\n")
        command = ["redis-server", str(settings), "--sentinel"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                if answers(port, process):
                    yield port
                    return
            finally:
                process.terminate()


def answers(port: int, process: subprocess.Popen[bytes]) -> bool:
    """Waits until the sentinel replies. Returns False if it has ended: then another process has taken its
    port.
    """

    def has_decided() -> bool:
        try:
            return bool(own.ping())
        except redis.ConnectionError:
            return process.poll() is not None

    with redis.Redis(port=port) as own:
        wait_until(has_decided, "it answers")
    return process.poll() is None


async def test_a_client_of_sentinels(redis_server: RedisBackend, sentinel: int) -> None:
    places = [("127.0.0.1", sentinel)]
    sentinels: Any = Sentinel(places)  # type: ignore[no-untyped-call]
    own = sentinels.master_for("stock")
    with (
        fencepost.Client(own) as client,
        client.lock(redis_server.name(), ttl=60).hold(timeout=LONG) as grant,
    ):
        assert grant.is_valid
        assert repr(client) == f"<fencepost.Client of redis+sentinel://127.0.0.1:{sentinel}/stock/0>"
    for each in (own, *sentinels.sentinels):
        each.close()
    sentinels = AsyncSentinel(places)  # type: ignore[no-untyped-call]
    aown = sentinels.master_for("stock")
    async with fencepost.asyncio.Client(aown) as aclient:
        async with aclient.lock(redis_server.name(), ttl=60).hold(timeout=LONG) as agrant:
            assert agrant.is_valid
        assert f"redis+sentinel://127.0.0.1:{sentinel}/stock/0" in repr(aclient)
    for each in (aown, *sentinels.sentinels):
        await each.aclose()


def test_sentinels_that_are_not_there() -> None:
    places = [("127.0.0.1", 1), ("::1", 2)]
    how = {"password": "secret", "retry": Retry(NoBackoff(), 0)}
    own: Any = Sentinel(places, sentinel_kwargs=how).master_for("stock", db=3)  # type: ignore[no-untyped-call]
    with fencepost.Client(own, connect_timeout=0.5) as client:
        assert repr(client) == "<fencepost.Client of redis+sentinel://127.0.0.1:1,[::1]:2/stock/3>"
        with pytest.raises(fencepost.Refused, match="stock") as error:
            client.lock("stock").acquire()
        assert error.value.name == "unreachable"
        assert "secret" not in f"{error.value} {error.value.__cause__!r}"
    own.close()


async def test_sentinels_that_are_not_there_below_a_loop() -> None:
    how = {"password": "secret", "retry": AsyncRetry(NoBackoff(), 0)}
    sentinels = AsyncSentinel([("127.0.0.1", 1)], sentinel_kwargs=how)  # type: ignore[no-untyped-call]
    own = sentinels.master_for("stock", db=3)
    async with fencepost.asyncio.Client(own, connect_timeout=0.5) as client:
        with pytest.raises(fencepost.Refused, match="stock") as error:
            await client.lock("stock").acquire()
        assert error.value.name == "unreachable"
        assert "secret" not in f"{error.value} {error.value.__cause__!r}"
    await own.aclose()


@pytest.fixture
def silent() -> Iterator[list[tuple[str, int]]]:
    """The addresses of sentinels that accept connections and do not reply."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield [("127.0.0.1", server.getsockname()[1])]


def test_sentinels_that_say_nothing(silent: list[tuple[str, int]]) -> None:
    """The client's own limit applies, although redis-py's limit is a minute, or there is none."""
    own: Any = Sentinel(silent).master_for("stock")  # type: ignore[no-untyped-call]
    client = fencepost.Client(own, connect_timeout=0.5)
    ended: list[str] = []

    def acquire() -> None:
        try:
            client.lock("stock").acquire()
        except fencepost.Refused as error:
            ended.append(error.name)

    thread = threading.Thread(target=acquire, daemon=True)
    thread.start()
    thread.join(LONG)
    assert ended == ["unreachable"]
    client.close()
    own.close()


async def test_a_silent_sentinel_before_another_one(
    redis_server: RedisBackend, sentinel: int, silent: list[tuple[str, int]]
) -> None:
    sentinels = [*silent, ("127.0.0.1", sentinel)]
    own: Any = Sentinel(sentinels).master_for("stock")  # type: ignore[no-untyped-call]
    with fencepost.Client(own) as client, client.lock(redis_server.name()).hold(timeout=LONG) as grant:
        assert grant.is_valid
    own.close()
    aown: Any = AsyncSentinel(sentinels).master_for("stock")  # type: ignore[no-untyped-call]
    async with (
        fencepost.asyncio.Client(aown) as aclient,
        aclient.lock(redis_server.name()).hold(timeout=LONG) as agrant,
    ):
        assert agrant.is_valid
    await aown.aclose()


async def test_sentinels_that_say_nothing_below_a_loop(silent: list[tuple[str, int]]) -> None:
    own: Any = AsyncSentinel(silent).master_for("stock")  # type: ignore[no-untyped-call]
    async with fencepost.asyncio.Client(own, connect_timeout=0.5) as client:
        with pytest.raises(fencepost.Refused) as error:
            await asyncio.wait_for(client.lock("stock").acquire(), LONG)
        assert error.value.name == "unreachable"
    await own.aclose()


async def test_a_client_for_reading_from_replicas() -> None:
    """No lock can be acquired on a replica. Without a replica, redis-py returns the primary's address at
    first.
    """
    places = [("127.0.0.1", 1)]
    sentinels: Any = Sentinel(places)  # type: ignore[no-untyped-call]
    with pytest.raises(fencepost.ConfigError, match=r"Give the client of master_for\('stock'\)"):
        fencepost.Client(sentinels.slave_for("stock"))
    others: Any = AsyncSentinel(places)  # type: ignore[no-untyped-call]
    reader = others.slave_for("stock")
    with pytest.raises(fencepost.ConfigError, match=r"Give the client of master_for\('stock'\)"):
        fencepost.asyncio.Client(reader)
    await reader.aclose()
