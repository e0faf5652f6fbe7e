"""The resource that the lock protects: a counter that is read, then written, and checks fences."""

from __future__ import annotations

import socketserver
import threading


class Counter:
    """The counter. It accepts no fence below the highest it has seen, and notices lost increments."""

    def __init__(self) -> None:
        self.value = 0
        self.highest = 0
        self.stale = 0
        self.lost_updates = 0
        self.fences: list[int] = []
        self._changed = threading.Condition()

    def read(self, fence: int) -> int | None:
        """The value, for a client with the highest fence; None for others."""
        with self._changed:
            if fence < self.highest:
                self.stale += 1
                return None
            if fence > self.highest:
                self.fences.append(fence)
            self.highest = fence
            return self.value

    def write(self, fence: int, value: int) -> bool:
        """Takes a new value from a client with the highest fence."""
        with self._changed:
            if fence < self.highest:
                self.stale += 1
                return False
            if value != self.value + 1:
                self.lost_updates += 1
            self.value = value
            self._changed.notify_all()
            return True

    def wait_for(self, value: int, timeout: float) -> bool:
        """Waits until the counter has reached a value."""
        with self._changed:
            return self._changed.wait_for(lambda: self.value >= value, timeout)


class CounterServer(socketserver.ThreadingTCPServer):
    """Serves one counter on a loopback port of its own."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        self.counter = Counter()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def port(self) -> int:
        """The port."""
        return int(self.server_address[1])

    def answer(self, contender: int, words: list[bytes]) -> str:
        """What is answered to a line; a contender is a connection."""
        match words:
            case [b"read", fence]:
                value = self.counter.read(int(fence))
                return "stale" if value is None else str(value)
            case [b"write", fence, value]:
                return "ok" if self.counter.write(int(fence), int(value)) else "stale"
        return "what?"

    def __enter__(self) -> CounterServer:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self) -> None:
        assert isinstance(self.server, CounterServer)
        for line in self.rfile:
            answer = self.server.answer(id(self), line.split())
            try:
                self.wfile.write(answer.encode() + b"\n")
            except OSError:
                return  # The contender was killed in the middle: that is the point.
