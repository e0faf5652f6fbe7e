"""Metrics of all clients of this process, for OpenTelemetry.

    import fencepost.opentelemetry

    fencepost.opentelemetry.instrument()

It needs ``pip install 'fencepost[opentelemetry]'``. The instruments are:

- ``fencepost.wait.duration``, a histogram in seconds: how long acquires and claims have waited. The attribute
  ``fencepost.outcome`` is ``acquired``, the name of the error, such as ``timeout``, or for an operation a
  result such as ``replayed``.
- ``fencepost.hold.duration``, a histogram in seconds: how long grants and claims have lasted. The outcome is
  ``released``, ``lost`` or ``completed``, for example.
- ``fencepost.waiting``, an up-down counter: how many acquires and claims wait now.
- ``fencepost.losses``, a counter: how many grants and claims were lost. The attribute ``fencepost.reason`` is
  the name of the error, such as ``lease-ended``.

Each has the attribute ``fencepost.server``: ``zookeeper``, ``redis`` or ``memory``. The names of locks are no
attributes, because there may be any number of them.
"""

from __future__ import annotations

from ._engine.observers import observe
from ._fencepost import __version__

try:
    from opentelemetry.metrics import MeterProvider, get_meter
except ImportError as error:
    raise ImportError(
        "fencepost.opentelemetry needs the package opentelemetry-api, which cannot be imported: "
        "pip install 'fencepost[opentelemetry]'",
        name="opentelemetry",
    ) from error

_BOUNDARIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100)


class _Instruments:
    """An observer that has OpenTelemetry's instruments."""

    def __init__(self, meter_provider: MeterProvider | None) -> None:
        meter = get_meter("fencepost", __version__, meter_provider)
        self._wait = meter.create_histogram(
            "fencepost.wait.duration",
            "s",
            "How long acquires and claims have waited",
            explicit_bucket_boundaries_advisory=_BOUNDARIES,
        )
        self._hold = meter.create_histogram(
            "fencepost.hold.duration",
            "s",
            "How long grants and claims have lasted",
            explicit_bucket_boundaries_advisory=_BOUNDARIES,
        )
        self._waiting = meter.create_up_down_counter(
            "fencepost.waiting", "{acquire}", "How many acquires and claims wait"
        )
        self._losses = meter.create_counter(
            "fencepost.losses", "{grant}", "How many grants and claims were lost"
        )

    def waits(self, server: str) -> None:
        """See Observer."""
        self._waiting.add(1, {"fencepost.server": server})

    def decided(self, server: str, outcome: str, duration: float) -> None:
        """See Observer."""
        self._waiting.add(-1, {"fencepost.server": server})
        self._wait.record(duration, {"fencepost.server": server, "fencepost.outcome": outcome})

    def ended(self, server: str, outcome: str, duration: float) -> None:
        """See Observer."""
        self._hold.record(duration, {"fencepost.server": server, "fencepost.outcome": outcome})

    def lost(self, server: str, reason: str) -> None:
        """See Observer."""
        self._losses.add(1, {"fencepost.server": server, "fencepost.reason": reason})


def instrument(meter_provider: MeterProvider | None = None) -> None:
    """From now on, measures all acquires and claims of this process. Without a provider, it uses the global
    one. A second call replaces the first.
    """
    observe(_Instruments(meter_provider))


def uninstrument() -> None:
    """From now on, measures no new acquire or claim."""
    observe(None)
