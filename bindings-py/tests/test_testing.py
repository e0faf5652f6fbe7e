"""Control over ``memory:NAME``: its effect on clients for threads and for asyncio."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Iterator

import fencepost
import fencepost.asyncio
import pytest
from fencepost.testing import MemoryServer, Session
from support import wait_until

LIMIT = 60


def held(client: fencepost.Client) -> fencepost.Grant:
    grant = client.lock("stock").acquire()
    assert grant
    return grant


def state_of(session: Session) -> str:
    """The state now. It may change between two reads."""
    return session.state


@pytest.fixture
def address() -> str:
    return f"memory:{uuid.uuid4()}"


@pytest.fixture
def server(address: str) -> MemoryServer:
    return MemoryServer(address)


@pytest.fixture
def clients(address: str) -> Iterator[list[fencepost.Client]]:
    both = [fencepost.connect(address) for _ in range(2)]
    yield both
    for client in both:
        client.close()


def test_an_expired_session_passes_the_lock_on(server: MemoryServer, clients: list[fencepost.Client]) -> None:
    holder, other = clients
    grant = held(holder)
    session = server.session(holder)
    before = session.id
    granted: list[fencepost.Grant] = []
    waiter = threading.Thread(target=lambda: granted.append(held(other)))
    server.record(True)
    waiter.start()
    wait_until(lambda: any(message.name == "get" for message in server.messages()), "it waits")
    session.expire()
    waiter.join(LIMIT)
    assert grant.lost.wait(LIMIT)
    with pytest.raises(fencepost.LockLost) as lost:
        grant.release()
    assert lost.value.name == "session-expired"
    assert granted[0].fence is not None
    assert grant.fence is not None
    assert granted[0].fence > grant.fence
    assert session.id != before
    assert session.state == "connected"
    assert session.hub == server.session(holder).hub
    granted[0].release()


def test_a_suspended_client_keeps_its_grant(server: MemoryServer, clients: list[fencepost.Client]) -> None:
    holder, other = clients
    grant = held(holder)
    session = server.session(holder)
    session.suspend()
    assert state_of(session) == "suspended"
    assert other.lock("stock").acquire(blocking=False) is None
    session.reconnect()
    grant.release()
    session.suspend()
    session.expire()
    assert state_of(session) == "expired"
    session.reconnect()
    assert state_of(session) == "connected"
    held(holder).release()


def test_a_paused_holder_believes_in_its_grant(server: MemoryServer, clients: list[fencepost.Client]) -> None:
    holder, other = clients
    late = held(holder)
    session = server.session(holder)
    session.pause()
    session.expire()
    assert (session.state, session.paused) == ("expired", True)
    with other.lock("stock") as grant:
        assert late.is_valid
        assert not late.lost.is_set()
        assert late.fence is not None
        assert grant.fence is not None
        assert late.fence < grant.fence
    session.resume()
    assert late.lost.wait(LIMIT)


def test_calls_of_a_paused_client_wait(server: MemoryServer, clients: list[fencepost.Client]) -> None:
    session = server.session(clients[0])
    session.pause()
    waiter = threading.Thread(target=lambda: held(clients[0]).release())
    waiter.start()
    waiter.join(0.05)
    assert waiter.is_alive()
    assert server.nodes() == []
    session.resume()
    waiter.join(LIMIT)
    assert not waiter.is_alive()


def test_a_paused_client_closes(address: str, server: MemoryServer) -> None:
    client = fencepost.connect(address)
    held(client)
    session = server.session(client)
    session.pause()
    client.close()
    assert repr(session) == f"<Session of client {session.hub}: closed>"
    for member in ("id", "state", "paused"):
        with pytest.raises(fencepost.MisuseError) as refused:
            getattr(session, member)
        assert refused.value.name == "client-closed"
    for control in (session.expire, session.suspend, session.reconnect, session.pause, session.resume):
        with pytest.raises(fencepost.MisuseError):
            control()
    with pytest.raises(fencepost.MisuseError):
        server.session(client)
    assert server.sessions() == []


def test_asyncio(address: str, server: MemoryServer) -> None:
    async def run() -> None:
        async with (
            fencepost.asyncio.connect(address) as holder,
            fencepost.asyncio.connect(address) as other,
        ):
            grant = await holder.lock("stock").acquire()
            assert grant is not None
            session = server.session(holder)
            session.pause()
            waiting = asyncio.ensure_future(other.lock("stock").acquire())
            threading.Thread(target=session.expire).start()
            next_grant = await asyncio.wait_for(waiting, LIMIT)
            assert next_grant is not None
            assert grant.is_valid
            session.resume()
            await asyncio.wait_for(grant.lost.wait(), LIMIT)
            await next_grant.release()

    asyncio.run(run())


def test_a_session_timeout_is_the_clients_own(address: str, server: MemoryServer) -> None:
    with fencepost.connect(f"{address}?session_timeout=300") as client:
        grant = held(client)
        session = server.session(client)
        session.suspend()
        assert grant.lost.wait(LIMIT)
        session.reconnect()


def test_what_the_server_tells(address: str, server: MemoryServer) -> None:
    assert server.messages() == []
    server.record(True)
    with fencepost.connect(address) as client:
        grant = held(client)
        hub = server.session(client).hub
        owned = [node for node in server.nodes() if node.hub == hub]
        assert [node.path.startswith("/stock/") for node in owned] == [True]
        assert [session.hub for session in server.sessions()] == [hub]
        grant.release()
    messages = server.messages()
    created = next(message for message in messages if message.name == "created")
    assert (created.kind, created.hub, created.error) == ("reply", hub, None)
    assert messages[-1].name == "closed"
    assert messages[-1].command is None
    assert [message.number for message in server.messages(after=messages[-2].number)] == [len(messages)]


def test_bad_input(server: MemoryServer) -> None:
    for url, name in (
        ("redis://localhost", "invalid-url"),
        ("memory:", "invalid-url"),
        ("memory:a/b", "invalid-url"),
        (1, "unreadable-settings"),
    ):
        with pytest.raises(fencepost.ConfigError) as refused:
            MemoryServer(url)  # type: ignore[arg-type]
        assert refused.value.name == name
    with fencepost.connect("memory:") as other:
        with pytest.raises(fencepost.ConfigError) as refused:
            server.session(other)
        assert refused.value.name == "invalid-option"
    for wrong in (None, "memory:a", 1):
        with pytest.raises(fencepost.ConfigError):
            server.session(wrong)  # type: ignore[arg-type]
    with pytest.raises(fencepost.ConfigError):
        server.record(1)  # type: ignore[arg-type]
