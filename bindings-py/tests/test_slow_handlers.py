"""Handlers of logging and metrics that are slow, or do not return. They delay no renewal, loss or close."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import fencepost
import fencepost.asyncio
import pytest
from conftest import AsyncConnect, Connect
from fencepost._engine.observers import observe
from support import LONG, Backend, RedisBackend, logging_to, wait_until


class Stuck(logging.Handler):
    """Does not return before the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        # kazoo logs on its own threads, and does not connect while a handler is stuck.
        self.addFilter(lambda record: record.name != "fencepost.kazoo")
        self.entered = threading.Event()
        self.may_return = threading.Event()
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a record, and waits."""
        self.entered.set()
        assert self.may_return.wait(LONG)
        self.records.append(record.getMessage())

    def has(self, text: str) -> bool:
        """Whether a record has this text."""
        return any(text in each for each in self.records)


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    """A handler that is stuck, for all records."""
    handler = Stuck()
    with logging_to(handler):
        yield handler
        handler.may_return.set()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue of reports is short."""
    monkeypatch.setattr("fencepost._engine.reporter.MOST", 2)


def held(client: fencepost.Client, name: str, **options: Any) -> fencepost.Grant:
    """A grant."""
    grant = client.lock(name, **options).acquire(timeout=LONG)
    assert grant is not None
    return grant


def test_a_loss_is_reported_at_once(backend: Backend, connect: Connect, stuck: Stuck) -> None:
    client = connect(backend.url)
    grant = held(client, backend.name(), max_hold=0.2)
    assert stuck.entered.wait(LONG)
    assert grant.lost.wait(LONG / 3)
    assert not stuck.records


def test_leases_are_renewed(redis_server: RedisBackend, connect: Connect, stuck: Stuck) -> None:
    grant = held(connect(redis_server.url), redis_server.name(), ttl=2)
    assert stuck.entered.wait(LONG)
    first = grant._contender.valid_until
    assert first is not None
    wait_until(lambda: (grant._contender.valid_until or 0) > first, "it is renewed", LONG / 3)
    assert grant.is_valid
    assert not stuck.records


def test_a_close_does_not_wait_for_ever(
    backend: Backend, connect: Connect, stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost._client.client.CONFIRM_WITHIN", 0.5)
    client = connect(backend.url)
    held(client, backend.name()).release()
    assert stuck.entered.wait(LONG)
    closed = threading.Event()

    def close() -> None:
        client.close()
        closed.set()

    threading.Thread(target=close, daemon=True).start()
    assert closed.wait(LONG / 3)
    assert not stuck.records


def test_a_close_waits_for_the_last_record(backend: Backend, stuck: Stuck) -> None:
    stuck.may_return.set()
    with fencepost.connect(backend.url) as client, client.lock(backend.name()):
        pass
    assert stuck.has("released after")


def test_a_close_logs_although_python_starts_no_thread(
    stuck: Stuck, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck.may_return.set()
    start = threading.Thread.start

    def start_all_but_one(thread: threading.Thread) -> None:
        if thread.name == "fencepost reports":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_all_but_one)
    client = connect("memory:")
    held(client, "a").release()
    assert not stuck.records
    client.close()
    assert stuck.has("released after")


@pytest.mark.usefixtures("few")
def test_the_queue_has_a_bound(connect: Connect, stuck: Stuck) -> None:
    client = connect("memory:")
    for _ in range(20):
        held(client, "a").release()
    stuck.may_return.set()
    wait_until(lambda: stuck.has("records and measurements were dropped"), "the drops are counted")
    assert len(stuck.records) < 20


class Counter:
    """An observer that counts, after the test lets it."""

    def __init__(self) -> None:
        self.may_count = threading.Event()
        self.waiting = 0
        self.begun = 0

    def waits(self, server: str) -> None:
        assert self.may_count.wait(LONG)
        self.waiting += 1
        self.begun += 1

    def decided(self, server: str, outcome: str, duration: float) -> None:
        self.waiting -= 1

    def ended(self, server: str, outcome: str, duration: float) -> None:
        """It does not count this."""

    def lost(self, server: str, reason: str) -> None:
        """It does not count this."""


@pytest.fixture
def counter() -> Iterator[Counter]:
    """Observes all clients of the test."""
    counter = Counter()
    observe(counter)
    yield counter
    counter.may_count.set()
    observe(None)


@pytest.mark.usefixtures("few")
def test_a_wait_is_counted_at_both_ends_or_at_none(connect: Connect, counter: Counter) -> None:
    client = connect("memory:")
    for _ in range(20):
        held(client, "a").release()
    counter.may_count.set()
    client.close()
    assert 0 < counter.begun < 20
    assert counter.waiting == 0


class Calls(logging.Handler):
    """Calls a function for each record of a loss."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__(logging.WARNING)
        self._call = call

    def emit(self, record: logging.LogRecord) -> None:
        """Calls."""
        self._call()


async def test_a_loop_notifies_of_a_loss_before_it_logs_it(backend: Backend, aconnect: AsyncConnect) -> None:
    grant = await aconnect(backend.url).lock(backend.name(), max_hold=0.2).acquire(timeout=LONG)
    assert grant is not None
    lost, seen = grant.lost, []
    logger, handler = logging.getLogger("fencepost"), Calls(lambda: seen.append(lost.is_set()))
    logger.addHandler(handler)
    try:
        await lost.wait()
    finally:
        logger.removeHandler(handler)
    assert seen == [True]
