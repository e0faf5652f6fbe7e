"""The log of the clients: losses, connections and waits, without passwords and without tokens."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator

import fencepost
import fencepost.asyncio
import pytest
from conftest import Connect
from support import BRIEF, Backend, Control, RedisBackend, logging_to, options, wait_until, with_session


class Records(logging.Handler):
    """Keeps all records, and those that were logged under the client's lock."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.clients: list[fencepost.Client] = []
        self.under_lock: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a record."""
        self.records.append(record)
        for client in self.clients:
            free = threading.Thread(target=self._try, args=(client, record))
            free.start()
            free.join()

    def _try(self, client: fencepost.Client, record: logging.LogRecord) -> None:
        # Another thread can acquire the lock if the thread that logs does not hold it.
        if client._engine.order.acquire(timeout=5):
            client._engine.order.release()
        else:
            self.under_lock.append(record.getMessage())

    def of(self, logger: str) -> list[str]:
        """The records of a logger, with their levels."""
        found = [record for record in self.records if record.name == logger]
        return [f"{record.levelname} {record.getMessage()}" for record in found]

    def until(self, logger: str, text: str) -> str:
        """The first record of a logger that has this text."""
        record: str = wait_until(lambda: next((each for each in self.of(logger) if text in each), None), text)
        return record


@pytest.fixture
def records() -> Iterator[Records]:
    """All records of the package."""
    records = Records()
    with logging_to(records):
        yield records


def test_acquires_and_grants(backend: Backend, connect: Connect, records: Records) -> None:
    client = connect(backend.url)
    records.clients.append(client)
    name = backend.name()
    with client.lock(name):
        assert client.lock(name).acquire(blocking=False) is None
    records.until("fencepost", f"{name}: released after ")
    said = records.of("fencepost")
    assert said[0] == f"DEBUG {name}: waits"
    assert said[1].startswith(f"DEBUG {name}: acquired after ")
    assert said[1].rpartition(" ")[2].isdigit()
    assert any(f"{name}: refused after " in each and each.endswith(": not-available") for each in said)
    assert not records.under_lock


async def test_acquires_and_grants_below_a_loop(backend: Backend, records: Records) -> None:
    name = backend.name()
    async with fencepost.asyncio.connect(backend.url) as client, client.lock(name):
        pass
    said = [each.partition(" after ")[0] for each in records.of("fencepost")]
    assert said == [f"DEBUG {name}: {what}" for what in ("waits", "acquired", "released")]


def test_a_loss(server: Backend, connect: Connect, records: Records) -> None:
    # The lease must not end before the client notices the deletion, which must be the reason of the loss.
    client = connect(with_session(server.url, 60_000))
    records.clients.append(client)
    name = server.name()
    grant = client.lock(name, **options(server, 9)).acquire()
    assert grant is not None
    server.delete(name)
    assert grant.lost.wait(30)
    said = records.until("fencepost", "lost after")
    assert said.startswith(f"WARNING {name}: lost after ")
    assert ": deleted (403): " in said
    assert not records.under_lock


def test_what_the_program_closes_is_no_warning(backend: Backend, connect: Connect, records: Records) -> None:
    client = connect(backend.url)
    grant = client.lock(backend.name()).acquire()
    assert grant is not None
    client.close()
    assert records.until("fencepost", "lost after").startswith("INFO ")


def test_connections(server: Backend, control: Control, connect: Connect, records: Records) -> None:
    proxy = control.do(f"proxy {server.server}")
    client = connect(with_session(server.at(proxy["address"]), 60_000))
    records.clients.append(client)
    with client.lock(server.name()):
        pass
    logger = f"fencepost.driver.{server.kind}"
    said = records.until(logger, "connected")
    assert said.startswith("INFO ")
    assert proxy["address"] in said
    control.do(f"proxy-cut {proxy['id']}")
    control.do(f"proxy-heal {proxy['id']}")
    with client.lock(server.name()):
        pass
    assert records.until(logger, "the connection is lost").startswith("INFO ")
    assert not records.under_lock


def test_no_passwords(connect: Connect, records: Records, redis_server: RedisBackend) -> None:
    host, port = redis_server.address.split(":")
    client = connect(f"redis://clerk:secret@{host}:{port}")
    with pytest.raises(fencepost.Refused) as error:
        client.lock("stock/42").acquire()
    assert error.value.name == "auth-failed"
    silent = fencepost.connect("redis://clerk:secret@127.0.0.1:1", connect_timeout=BRIEF)
    with silent, pytest.raises(fencepost.Refused):
        silent.lock("stock/42").acquire()
    assert records.until("fencepost.driver.redis", "127.0.0.1:1/0: no answer (not-sent)").startswith("DEBUG ")
    everything = [record.getMessage() for record in records.records]
    assert not [each for each in everything if "secret" in each]


def test_no_tokens(backend: Backend, connect: Connect, records: Records) -> None:
    orders = connect(backend.url).idempotency(backend.prefix)
    orders.issue("a-secret-token", "session-1")
    with orders.consume("a-secret-token", "session-1") as claim:
        claim.complete("17")
    records.until("fencepost", f"{backend.prefix}: completed after ")
    everything = [record.getMessage() for record in records.records]
    assert not [each for each in everything if "secret" in each]


class Broken(logging.Handler):
    """Fails on each record."""

    def emit(self, record: logging.LogRecord) -> None:
        raise ConnectionError("the server of the logs is gone")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_handler_that_fails_ends_no_renewals(backend: Backend, connect: Connect, records: Records) -> None:
    broken, client = Broken(), connect(backend.url)
    # kazoo does not connect while a handler fails.
    client.lock(backend.name()).acquire().release()  # type: ignore[union-attr]
    logging.getLogger("fencepost").addHandler(broken)
    try:
        # The client's timer logs its loss.
        lost = client.lock(backend.name(), max_hold=0.05).acquire()
        assert lost is not None
        assert lost.lost.wait(30)
        grant = client.lock(backend.name(), max_hold=0.1).acquire(timeout=30)
        assert grant is not None
        assert grant.lost.wait(30)
    finally:
        logging.getLogger("fencepost").removeHandler(broken)


def test_kazoo_s_records_have_the_level_of_the_program(backend: Backend) -> None:
    program = (
        "import logging, sys, fencepost; logging.basicConfig(level=logging.WARNING, stream=sys.stdout);"
        "c = fencepost.connect(sys.argv[1]); c.lock(sys.argv[2]).acquire().release(); c.close()"
    )
    run = [sys.executable, "-c", program, backend.url, backend.name()]
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout == ""


def test_a_program_without_logging(tmp_path: object) -> None:
    # Python would write a warning without a handler to the standard error.
    program = (
        "import logging, fencepost; logging.getLogger('fencepost').warning('lost');"
        "logging.getLogger('fencepost.driver.redis').warning('lost')"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stderr == ""
