"""The signals that end a run."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Handler = Callable[[signal.Signals], None]


class Signals:
    """Catches the ending signals: stores the first one, and passes each to the current handler."""

    def __init__(self) -> None:
        self.first: signal.Signals | None = None
        self.received = asyncio.Event()
        self._handler: Handler | None = None
        loop = asyncio.get_running_loop()
        for number in ENDING:
            loop.add_signal_handler(number, self._on_signal, number)

    def forward(self, handler: Handler | None) -> None:
        """Passes each signal to `handler` from now on, and an earlier signal at once."""
        self._handler = handler
        if handler is not None and self.first is not None:
            handler(self.first)

    def _on_signal(self, number: signal.Signals) -> None:
        if self.first is None:
            self.first = number
        self.received.set()
        if self._handler is not None:
            self._handler(number)
