"""One operation of a test: its requests, and the traces of its handler."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

import httpx
import redis
from servers import Server, wait_until

ORDER = b'{"cents": 1700}'
REPLAYED = "idempotent-replayed"
STORED = "idempotency-stored"


class Operation:
    """A key, a tenant, and the id of the handler's traces."""

    def __init__(self, effects: redis.Redis) -> None:
        self.id = uuid.uuid4().hex[:12]
        self.key = f"order-{self.id}"
        self.tenant = f"tenant-{self.id}"
        self._effects: Any = effects

    def headers(self, **more: str) -> dict[str, str]:
        """The headers of a request with the key. A keyword with the value "" omits a header."""
        headers = {"X-Tenant": self.tenant, "Idempotency-Key": self.key, "Content-Type": "application/json"}
        headers |= {name.replace("_", "-").title(): value for name, value in more.items()}
        return {name: value for name, value in headers.items() if value}

    def target(self, *, path: str = "/run", **query: Any) -> str:
        """The path with its query string."""
        parts = [f"id={self.id}", *(f"{name}={value}" for name, value in query.items())]
        return f"{path}?{'&'.join(parts)}"

    def post(
        self,
        server: Server,
        body: bytes | Iterable[bytes] = ORDER,
        *,
        method: str = "POST",
        path: str = "/run",
        headers: dict[str, str] | None = None,
        **query: Any,
    ) -> httpx.Response:
        """Sends a request."""
        target = self.target(path=path, **query)
        return server.client.request(
            method, target, content=body, headers=self.headers() if headers is None else headers
        )

    def raw(self, body: bytes = ORDER, length: int | None = None, **query: Any) -> bytes:
        """The bytes of a request, after which the connection ends."""
        lines = [f"POST {self.target(**query)} HTTP/1.1", "Host: localhost", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in self.headers().items()]
        lines += [f"Content-Length: {len(body) if length is None else length}", "", ""]
        return "\r\n".join(lines).encode() + body

    @property
    def runs(self) -> int:
        """How often the handler has run."""
        return int(self._effects.get(f"http:{self.id}:runs") or 0)

    def wait_until_run(self, runs: int = 1) -> None:
        """Waits until the handler runs."""
        wait_until(lambda: self.runs == runs, "the handler runs")

    def open_gate(self) -> None:
        """Lets one run continue."""
        self._effects.rpush(f"http:{self.id}:gate", "open")


def is_problem(response: httpx.Response, status: int, name: str) -> bool:
    """Whether the response is this problem."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    document = response.json()
    assert list(document) == ["type", "title", "status", "detail"]
    assert document["status"] == response.status_code
    assert response.headers["cache-control"] == "no-store"
    return (response.status_code, document["type"]) == (status, f"urn:fencepost:http:{name}")


def assert_replays(first: httpx.Response, retry: httpx.Response) -> None:
    """Checks that the retry has the response of the first request, by the rules of the HTTP format."""
    assert (retry.status_code, retry.content) == (first.status_code, first.content)
    for name in ("content-type", "location", "content-length"):
        assert retry.headers.get(name) == first.headers.get(name)
    assert retry.headers[REPLAYED] == "true"
    assert STORED not in retry.headers
    assert "set-cookie" not in retry.headers
    assert "x-run" not in retry.headers
    assert REPLAYED not in first.headers
    assert STORED not in first.headers
    assert first.headers["set-cookie"]
