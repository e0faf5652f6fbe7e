"""The driver for redis-py: its table of errors, and a client that the program already has."""

from __future__ import annotations

import os
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
import redis
import redis.asyncio
from fencepost.drivers.redis._errors import answer, failure
from redis import exceptions
from redis._parsers.base import BaseParser
from relay import relayed
from support import BRIEF, LONG, Control, RedisBackend, requests, wait_until


@pytest.mark.parametrize(
    "text",
    [
        "WRONGTYPE Operation against a key",
        "NOSCRIPT No matching script.",
        "READONLY You can't write against a read only replica.",
        "NOPERM this user has no permissions",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "LOADING Redis is loading the dataset in memory",
        "MASTERDOWN Link with MASTER is down",
        "NOAUTH Authentication required.",
        "WRONGPASS invalid username-password pair",
        "MOVED 3999 127.0.0.1:6381",
        "ASK 3999 127.0.0.1:6381",
        "CROSSSLOT Keys in request don't hash to the same slot",
        "CLUSTERDOWN Hash slot not served",
        "NOREPLICAS Not enough good replicas to write.",
        "ERR unknown command 'x'",
        "ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write",
        "ERR",
    ],
)
def test_errors_that_are_answers(text: str) -> None:
    """As the library reads them from the wire. That differs between its versions."""
    error: Exception = BaseParser.parse_error(text)  # type: ignore[no-untyped-call]
    assert answer(error) == text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (exceptions.AuthenticationError("invalid password"), "WRONGPASS invalid password"),
        (
            exceptions.AuthenticationError("Invalid Username or Password"),
            "WRONGPASS Invalid Username or Password",
        ),
    ],
)
def test_errors_of_the_library_s_own(error: Exception, text: str) -> None:
    assert answer(error) == text


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ConnectionError("Error 111 connecting"),
        exceptions.ConnectionError("Connection closed by server."),
        exceptions.TimeoutError("Timeout reading from socket"),
        exceptions.InvalidResponse("Protocol Error"),
        exceptions.MaxConnectionsError("Too many connections"),
        OSError("of the socket"),
    ],
)
def test_errors_that_are_none(error: Exception) -> None:
    assert answer(error) is None
    assert failure(error, False) == "not-sent"
    assert failure(error, True) == "unknown"


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"protocol": 2},
        {"protocol": 3, "decode_responses": True},
        {"max_connections": 1},
        {"socket_timeout": 3.0},
    ],
    ids=str,
)
def test_a_client_of_the_caller_s_own(redis_server: RedisBackend, how: dict[str, Any]) -> None:
    own = redis.Redis.from_url(redis_server.url, **how)
    own.ping()
    with fencepost.Client(own) as client:
        lock = client.lock(redis_server.name())
        with lock as grant:
            assert grant.is_valid
            waiting = threading.Thread(target=lambda: lock.hold(timeout=LONG).__enter__().release())
            waiting.start()
            own.set(redis_server.name("beside"), "the caller goes on using it")
            wait_until(
                lambda: own.pubsub_numsub(f"{{{redis_server.name()}}}:released")[0][1] == 1, "it listens"
            )
        waiting.join(LONG)
    assert own.get(redis_server.name("beside")) in (
        b"the caller goes on using it",
        "the caller goes on using it",
    )
    own.close()


@pytest.mark.parametrize("how", [{}, {"protocol": 2}, {"decode_responses": True}], ids=str)
async def test_an_asyncio_client_of_the_caller_s_own(redis_server: RedisBackend, how: dict[str, Any]) -> None:
    own = redis.asyncio.Redis.from_url(redis_server.url, **how)
    await own.ping()
    async with fencepost.asyncio.Client(own) as client:
        lock = client.lock(redis_server.name())
        async with lock as grant:
            assert grant.is_valid
            assert await lock.acquire(timeout=BRIEF) is None
    await own.ping()
    await own.aclose()


async def test_a_client_without_a_host() -> None:
    """redis-py then connects to this computer."""
    with fencepost.Client(redis.Redis(host=None, port=1)) as client:  # type: ignore[arg-type]
        assert repr(client) == "<fencepost.Client of redis://localhost:1/0>"
    theirs = redis.asyncio.Redis(host=None, port=1)  # type: ignore[arg-type]
    async with theirs, fencepost.asyncio.Client(theirs) as on_loop:
        assert repr(on_loop) == "<fencepost.asyncio.Client of redis://localhost:1/0>"


async def test_clients_of_the_other_world() -> None:
    with pytest.raises(fencepost.ConfigError, match=r"give it to fencepost\.asyncio\.Client"):
        fencepost.Client(redis.asyncio.Redis())
    with pytest.raises(fencepost.ConfigError, match=r"give it to fencepost\.Client"):
        fencepost.asyncio.Client(redis.Redis())


@pytest.mark.parametrize("password", ["", ":wrong@", "nobody:wrong@"])
async def test_a_wrong_password(control: Control, password: str) -> None:
    url = f"redis://{password}{os.environ['FENCEPOST_REDIS_AUTH']}"
    with fencepost.connect(url) as client, pytest.raises(fencepost.Refused) as error:
        client.lock("stock").acquire()
    assert (error.value.code, error.value.name) == (306, "auth-failed")
    assert isinstance(error.value.__cause__, redis.AuthenticationError)
    assert "wrong" not in repr(client)
    async with fencepost.asyncio.connect(url) as aclient:
        with pytest.raises(fencepost.Refused) as error:
            await aclient.lock("stock").acquire()
    assert error.value.name == "auth-failed"
    assert isinstance(error.value.__cause__, redis.AuthenticationError)


def test_a_right_password(control: Control) -> None:
    url = f"redis://:{os.environ['FENCEPOST_REDIS_AUTH_PASSWORD']}@{os.environ['FENCEPOST_REDIS_AUTH']}"
    name = uuid.uuid4().hex
    with fencepost.connect(url) as client, client.lock(name, ttl=60) as grant:
        assert grant.is_valid
    with redis.Redis.from_url(url) as own:
        own.delete(f"{{{name}}}:fence")


async def test_a_key_of_another_type(redis_server: RedisBackend) -> None:
    redis_server.client.rpush(redis_server.name(), "a list")
    with fencepost.connect(redis_server.url) as client, pytest.raises(fencepost.Refused) as error:
        client.lock(redis_server.name()).acquire()
    assert (error.value.code, error.value.name) == (310, "wrong-type")
    assert isinstance(error.value.__cause__, redis.ResponseError)
    async with fencepost.asyncio.connect(redis_server.url) as aclient:
        with pytest.raises(fencepost.Refused) as error:
            await aclient.lock(redis_server.name()).acquire()
    assert error.value.name == "wrong-type"


async def test_a_server_that_does_not_allow_scripts(redis_server: RedisBackend, user: Any) -> None:
    url = user("+@all", "-evalsha", "-eval")
    with fencepost.connect(url) as client, pytest.raises(fencepost.Refused) as error:
        client.lock(redis_server.name()).acquire()
    assert (error.value.code, error.value.name) == (305, "no-permission")
    async with fencepost.asyncio.connect(url) as aclient:
        with pytest.raises(fencepost.Refused) as error:
            await aclient.lock(redis_server.name()).acquire()
    assert error.value.name == "no-permission"


async def test_a_server_that_does_not_allow_subscriptions(redis_server: RedisBackend, user: Any) -> None:
    url = user("+@all", "-subscribe")
    with fencepost.connect(url) as client, client.lock(redis_server.name()) as grant:
        got: list[object] = []
        waiting = threading.Thread(
            target=lambda: got.append(client.lock(redis_server.name()).acquire(timeout=LONG))
        )
        waiting.start()
        time.sleep(0.15)
        grant.release()
        waiting.join(LONG)
        assert got[0] is not None
    async with fencepost.asyncio.connect(url) as aclient:
        lock = aclient.lock(redis_server.name())
        async with lock:
            assert await lock.acquire(timeout=BRIEF) is None


def test_a_connection_that_the_server_has_closed(
    redis_server: RedisBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fencepost.connect(redis_server.url) as client:
        lock = client.lock(redis_server.name())
        with lock:
            pass
        clients = redis_server.client.client_list(_type="normal")
        ours = [each["addr"] for each in clients if each["cmd"] in ("eval", "evalsha")]
        assert ours
        for address in ours:
            redis_server.client.client_kill(address)
        unanswered: list[object] = []
        failed = client._engine.failed

        def note(*arguments: Any, **more: Any) -> None:
            unanswered.append(arguments)
            failed(*arguments, **more)

        monkeypatch.setattr(client._engine, "failed", note)
        with lock:
            assert unanswered == []


def test_requests_on_the_wire(redis_server: RedisBackend, control: Control) -> None:
    proxy = control.do("proxy redis-1")
    with fencepost.connect(redis_server.at(proxy["address"])) as client:
        assert requests(control, proxy, client.lock(redis_server.name())) == {"EVALSHA": 10}


def test_a_hint_wakes_a_waiter(redis_server: RedisBackend) -> None:
    with fencepost.connect(redis_server.url) as ours, fencepost.connect(redis_server.url) as theirs:
        grant = ours.lock(redis_server.name()).acquire()
        assert grant is not None
        got: list[float] = []

        def wait() -> None:
            with theirs.lock(redis_server.name(), poll=60):
                got.append(time.monotonic())

        waiting = threading.Thread(target=wait)
        waiting.start()
        channel = f"{{{redis_server.name()}}}:released"
        wait_until(lambda: redis_server.client.pubsub_numsub(channel)[0][1] == 1, "it listens")
        wait_until(lambda: ours._engine.hub.pending and theirs._engine.hub.pending, "it waits")
        grant.release()
        waiting.join(LONG)
        assert got


def test_many_threads_at_once(redis_server: RedisBackend) -> None:
    with fencepost.connect(redis_server.url) as client:
        done: list[int] = []

        def work(number: int) -> None:
            with client.lock(redis_server.name(str(number % 5))):
                done.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
        assert sorted(done) == list(range(40))


@pytest.fixture
def without_scripts(tmp_path: Path) -> Iterator[str]:
    """The socket of a server that has no EVALSHA and no EVAL."""
    if "FENCEPOST_SERVERS" not in os.environ:
        pytest.skip("needs redis-server")
    path = tmp_path / "redis.sock"
    options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(tmp_path)]
    renames = ["--rename-command", "EVALSHA", "", "--rename-command", "EVAL", ""]
    with subprocess.Popen(["redis-server", *options, *renames], stdout=subprocess.DEVNULL) as process:
        wait_until(path.exists, "it listens")
        yield str(path)
        process.terminate()


async def test_a_server_without_scripts(without_scripts: str) -> None:
    with redis.Redis(unix_socket_path=without_scripts) as own, fencepost.Client(own) as client:
        assert without_scripts in repr(client)
        with pytest.raises(fencepost.Refused) as error:
            client.lock("stock").acquire()
    assert (error.value.code, error.value.name) == (311, "unsupported")
    assert "unknown command" in str(error.value)
    aown = redis.asyncio.Redis(unix_socket_path=without_scripts)
    async with aown, fencepost.asyncio.Client(aown) as aclient:
        with pytest.raises(fencepost.Refused) as error:
            await aclient.lock("stock").acquire()
    assert error.value.name == "unsupported"


async def test_an_ipv6_address(redis_server: RedisBackend) -> None:
    with relayed(redis_server.address, "::1") as relay:
        url = redis_server.at(relay.address)
        assert url.startswith("redis://[::1]:")
        with fencepost.connect(url) as client, client.lock(redis_server.name(), ttl=60) as grant:
            assert grant.is_valid
        async with (
            fencepost.asyncio.connect(url) as aclient,
            aclient.lock(redis_server.name(), ttl=60) as held,
        ):
            assert held.is_valid
