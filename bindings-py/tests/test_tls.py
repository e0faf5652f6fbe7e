"""Redis with TLS: the trusted certificates, and no connection without TLS."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import uuid
from collections.abc import Iterator
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import redis
import redis.asyncio
from support import LONG, Control, RedisBackend, wait_until, wait_until_async


class Tls:
    """The server with TLS, and an operator's client for it."""

    def __init__(self) -> None:
        self.address = os.environ["FENCEPOST_REDIS_TLS"]
        self.password = os.environ["FENCEPOST_REDIS_TLS_PASSWORD"]
        self.ca = os.environ["FENCEPOST_REDIS_TLS_CA"]
        self.other_ca = os.environ["FENCEPOST_REDIS_TLS_OTHER_CA"]
        self.name = uuid.uuid4().hex
        self.operator = redis.Redis.from_url(
            f"rediss://:{self.password}@{self.address}", ssl_ca_certs=self.ca
        )

    def url(self, address: str | None = None, ca: str | None = None) -> str:
        """An address that leads to the server."""
        return f"rediss://:{self.password}@{address or self.address}?ca={ca or self.ca}"

    def listeners(self) -> int:
        """How many waiters have subscribed to messages about the lock."""
        channel = f"{{{self.name}}}:released"
        count: Any = self.operator.pubsub_numsub(channel)
        return int(count[0][1])


@pytest.fixture
def tls(control: Control) -> Iterator[Tls]:
    """The server. After the test, it has only tombstones of the lock, which expire by themselves."""
    tls = Tls()
    yield tls
    tls.operator.delete(f"{{{tls.name}}}:fence")
    left: Any = tls.operator.keys(f"*{tls.name}*")
    assert [key for key in left if f"{{{tls.name}}}:gone:".encode() not in key] == []
    assert all(tls.operator.pttl(key) != -1 for key in left)
    tls.operator.close()
    # A socket that the test has left open is a warning here, and a warning fails the test.
    gc.collect()


def test_a_waiting_thread_is_notified_through_tls_too(tls: Tls) -> None:
    other = tls.url(tls.address.replace("127.0.0.1", "localhost"))
    with fencepost.connect(tls.url()) as client, fencepost.connect(other) as rival:
        mine, theirs = (each.lock(tls.name, ttl=3600) for each in (client, rival))
        grant = mine.acquire()
        assert grant is not None
        assert tls.operator.pttl(tls.name) > 3_000_000
        assert theirs.acquire(blocking=False) is None
        got: list[fencepost.Grant | None] = []
        waiting = threading.Thread(target=lambda: got.append(theirs.acquire(timeout=LONG)))
        waiting.start()
        wait_until(lambda: tls.listeners() == 1, "it listens")
        grant.release()
        waiting.join(LONG)
        assert got[0] is not None
        assert got[0].fence > grant.fence  # type: ignore[operator]
        got[0].release()


async def test_a_waiting_task_is_notified_through_tls_too(tls: Tls) -> None:
    async with fencepost.asyncio.connect(tls.url()) as client:
        lock = client.lock(tls.name, ttl=3600)
        grant = await lock.acquire()
        assert grant is not None
        assert await lock.acquire(blocking=False) is None
        waiting = asyncio.create_task(lock.acquire(timeout=LONG))
        await wait_until_async(lambda: tls.listeners() == 1, "it listens")
        await grant.release()
        got = await waiting
        assert got is not None
        await got.release()


@pytest.mark.parametrize("place", ["another authority", "another host"])
async def test_a_server_with_an_unknown_certificate_is_refused_at_once(tls: Tls, place: str) -> None:
    elsewhere = tls.url(tls.address.replace("127.0.0.1", "127.0.0.2"))
    url = elsewhere if place == "another host" else tls.url(ca=tls.other_ca)
    # Without a limit: the acquire does not wait until the server has another certificate.
    with fencepost.connect(url) as client, pytest.raises(fencepost.Refused) as error:
        client.lock(tls.name).acquire()
    for _ in range(2):
        assert (error.value.code, error.value.name) == (312, "server-error")
        assert "CERTIFICATE_VERIFY_FAILED" in str(error.value)
        assert isinstance(error.value.__cause__, redis.ConnectionError | OSError)
        async with fencepost.asyncio.connect(url) as aclient:
            with pytest.raises(fencepost.Refused) as error:
                await aclient.lock(tls.name).acquire()


async def test_without_a_file_the_system_s_certificates_decide(tls: Tls) -> None:
    url = tls.url().split("?")[0]
    with (
        fencepost.connect(url) as client,
        pytest.raises(fencepost.Refused, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        client.lock(tls.name).acquire()


@pytest.mark.parametrize("below_a_loop", [False, True])
async def test_a_server_without_tls(control: Control, redis_server: RedisBackend, below_a_loop: bool) -> None:
    """Such a server does not reply, because it waits for the rest of a command."""
    url, within = f"rediss://{redis_server.address}", {"connect_timeout": 0.3}
    with pytest.raises(fencepost.Refused, match=r"check that the server runs there and speaks TLS$") as error:
        if below_a_loop:
            async with fencepost.asyncio.connect(url, **within) as client:
                await client.lock("stock").acquire()
        else:
            with fencepost.connect(url, **within) as threads:
                threads.lock("stock").acquire()
    assert error.value.name == "unreachable"


def test_a_file_that_is_none(tls: Tls, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    for connect in (fencepost.connect, fencepost.asyncio.connect):
        for path in (tmp_path / "missing.pem", empty):
            with pytest.raises(fencepost.ConfigError, match=str(path)) as error:
                connect(tls.url(ca=str(path)))
            assert (error.value.code, error.value.name) == (106, "invalid-url")
            assert tls.password not in str(error.value)


@pytest.mark.parametrize("setting", ["ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_ca_path"])
async def test_a_file_of_a_given_client_that_is_missing(tmp_path: Path, setting: str) -> None:
    missing, given = str(tmp_path / "missing.pem"), Path(__file__)
    for name, given_path in ((setting, missing), ("ssl_ca_certs", given)):
        settings: dict[str, Any] = {"ssl": True, name: given_path}
        for make, module in ((fencepost.Client, redis), (fencepost.asyncio.Client, redis.asyncio)):
            if not settings.keys() <= signature(module.Redis).parameters.keys():
                continue  # An older redis-py.
            connection = module.Redis(host="127.0.0.1", port=1, **settings)
            if given_path is missing:
                with pytest.raises(fencepost.ConfigError, match=f"^{setting} of .*{missing}"):
                    make(connection)
                continue
            client: Any = make(connection)
            closing = client.close()
            if closing is not None:
                await closing


async def test_tls_and_no_tls_do_not_mix(tls: Tls) -> None:
    in_the_clear = f"redis://:{tls.password}@{tls.address}"
    # Such a server waits for the rest of a command, so a close must not wait for its reply.
    to_the_clear = f"rediss://{os.environ['FENCEPOST_REDIS']}"
    for url in (in_the_clear, to_the_clear):
        with suppress(fencepost.CleanupIncomplete), fencepost.connect(url) as client:
            with pytest.raises(fencepost.Refused) as error:
                client.lock(tls.name).acquire(timeout=0.5)
            assert error.value.name == "unreachable"
        with suppress(fencepost.CleanupIncomplete):
            async with fencepost.asyncio.connect(url) as aclient:
                with pytest.raises(fencepost.Refused) as error:
                    await aclient.lock(tls.name).acquire(timeout=0.5)
                assert error.value.name == "unreachable"


async def test_a_wrong_password_is_an_error(tls: Tls) -> None:
    url = tls.url().replace(tls.password, "wrong")
    with fencepost.connect(url) as client, pytest.raises(fencepost.Refused) as error:
        client.lock(tls.name).acquire()
    assert error.value.name == "auth-failed"
    async with fencepost.asyncio.connect(url) as aclient:
        with pytest.raises(fencepost.Refused) as error:
            await aclient.lock(tls.name).acquire()
    assert error.value.name == "auth-failed"


async def test_a_cut_connection_is_made_again(tls: Tls, control: Control) -> None:
    proxy = control.do("proxy redis-tls")

    def cut() -> None:
        control.do(f"proxy-cut {proxy['id']}")
        control.do(f"proxy-heal {proxy['id']}")

    url = tls.url(proxy["address"])
    with fencepost.connect(url) as client, client.lock(tls.name, ttl=20) as grant:
        cut()
        grant.extend()
        assert grant.is_valid
    async with fencepost.asyncio.connect(url) as aclient, aclient.lock(tls.name, ttl=20) as agrant:
        cut()
        await agrant.extend()
        assert agrant.is_valid


def test_a_server_that_does_not_say_goodbye_leaves_no_socket(tls: Tls, control: Control) -> None:
    async def main() -> None:
        async with fencepost.asyncio.connect(tls.url()) as client:
            async with client.lock(tls.name, ttl=20):
                pass
            control.do("pause redis-tls")

    asyncio.run(main())
    control.do("resume redis-tls")
    # An unclosed socket is a warning here, and a warning fails the test.
    gc.collect()
