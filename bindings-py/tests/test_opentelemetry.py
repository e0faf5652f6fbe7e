"""The metrics for OpenTelemetry, read with its in-memory reader."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import fencepost
import fencepost.asyncio
import fencepost.opentelemetry
import pytest
from conftest import Connect
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from support import BRIEF, Backend, options, package_alone, wait_until, wait_until_async, with_session


class Metrics:
    """The metrics of this test in OpenTelemetry."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.provider = MeterProvider([self.reader])

    def points(self, name: str) -> dict[str, Any]:
        """The data points of an instrument, by their attributes besides the server."""
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        found: dict[str, Any] = {}
        for metric in data.resource_metrics[0].scope_metrics[0].metrics:
            for point in metric.data.data_points if metric.name == f"fencepost.{name}" else ():
                attributes = dict(point.attributes or {})
                key = f"{attributes.pop('fencepost.server')} {' '.join(map(str, attributes.values()))}"
                found[key.strip()] = point
        return found

    def count(self, name: str, key: str) -> int:
        """How many values a histogram has."""
        point = self.points(name).get(key)
        return 0 if point is None else point.count

    def value(self, name: str, key: str) -> int | None:
        """The value of a counter."""
        point = self.points(name).get(key)
        return None if point is None else point.value


@pytest.fixture
def metrics() -> Iterator[Metrics]:
    """Measures all clients of this test."""
    made = Metrics()
    fencepost.opentelemetry.instrument(made.provider)
    yield made
    fencepost.opentelemetry.uninstrument()
    made.provider.shutdown()


def test_waits_and_holds(backend: Backend, connect: Connect, metrics: Metrics) -> None:
    client, server = connect(backend.url), backend.kind
    name = backend.name()
    with client.lock(name):
        assert client.lock(name).acquire(blocking=False) is None
        wait_until(lambda: metrics.count("wait.duration", f"{server} acquired") == 1, "it was acquired")
        wait_until(lambda: metrics.count("wait.duration", f"{server} not-available") == 1, "it was refused")
        assert metrics.points("hold.duration") == {}
    wait_until(lambda: metrics.count("hold.duration", f"{server} released") == 1, "it was released")
    assert metrics.value("waiting", server) == 0
    held = metrics.points("hold.duration")[f"{server} released"]
    assert 0 < held.sum < 60
    assert held.explicit_bounds[0] == 0.001
    assert metrics.points("losses") == {}


async def test_waits_and_holds_below_a_loop(backend: Backend, metrics: Metrics) -> None:
    server = backend.kind
    async with fencepost.asyncio.connect(backend.url) as client:
        async with client.lock(backend.name()):
            await wait_until_async(
                lambda: metrics.count("wait.duration", f"{server} acquired") == 1, "it was acquired"
            )
        await wait_until_async(
            lambda: metrics.count("hold.duration", f"{server} released") == 1, "it was released"
        )


def test_the_queue(backend: Backend, connect: Connect, metrics: Metrics) -> None:
    holder, waiter = connect(backend.url), fencepost.connect(backend.url)
    name, server = backend.name(), backend.kind
    held = holder.lock(name).acquire()
    assert held is not None
    wait_until(lambda: metrics.value("waiting", server) == 0, "it is held")
    with waiter:
        scope = waiter.lock(name).hold(timeout=BRIEF)
        with pytest.raises(fencepost.NotAcquired):
            scope.__enter__()
    wait_until(lambda: metrics.count("wait.duration", f"{server} timeout") == 1, "its time was up")
    assert metrics.points("wait.duration")[f"{server} timeout"].sum >= BRIEF
    assert metrics.value("waiting", server) == 0


def test_losses(server: Backend, connect: Connect, metrics: Metrics) -> None:
    # The lease must not end before the client notices the deletion, which must be the reason of the loss.
    client = connect(with_session(server.url, 60_000))
    grant = client.lock(server.name(), **options(server, 9)).acquire()
    assert grant is not None
    server.delete(server.name())
    assert grant.lost.wait(30)
    wait_until(lambda: metrics.value("losses", f"{server.kind} deleted") == 1, "the loss is counted")
    wait_until(lambda: metrics.count("hold.duration", f"{server.kind} lost") == 1, "its end is counted")


def test_claims(backend: Backend, connect: Connect, metrics: Metrics) -> None:
    orders, server = connect(backend.url).idempotency(backend.prefix), backend.kind
    for _ in range(2):
        with orders.claim("order-17") as claim:
            if not claim.replayed:
                claim.complete(17)
    wait_until(lambda: metrics.count("wait.duration", f"{server} replayed") == 1, "it was replayed")
    wait_until(lambda: metrics.count("wait.duration", f"{server} acquired") == 1, "it was acquired")
    wait_until(lambda: metrics.count("hold.duration", f"{server} completed") == 1, "it was completed")


def test_a_program_without_opentelemetry() -> None:
    program = f"import sys; sys.path.insert(0, {str(package_alone())!r}); import fencepost.opentelemetry"
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True)
    assert "ImportError: fencepost.opentelemetry needs the package opentelemetry-api" in done.stderr
    assert "pip install 'fencepost[opentelemetry]'" in done.stderr
