"""The resource that the lock protects: a counter with reads and writes, which checks fences."""

from __future__ import annotations

import socketserver
import threading


class Counter:
    """The counter. It rejects fences below the highest one so far, and detects lost increments."""

    def __init__(self) -> None:
        self.value = 0
        self.highest = 0
        self.stale = 0
        self.lost_updates = 0
        self.fences: list[int] = []
        self._changed = threading.Condition()

    def read(self, fence: int) -> int | None:
        """Returns the value if the client has the highest fence; otherwise None."""
        with self._changed:
            if fence < self.highest:
                self.stale += 1
                return None
            if fence > self.highest:
                self.fences.append(fence)
            self.highest = fence
            return self.value

    def write(self, fence: int, value: int) -> bool:
        """Stores a new value if the client has the highest fence."""
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
    """Serves one counter on its own loopback port."""

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
        """The reply to a line. Each contender has one connection."""
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
                return  # The test killed the contender during an increment, which is expected.
