"""The worker's address, in the form that each library needs."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit


class Address:
    """`zk://HOST:PORT?session_timeout=MS` or `redis://HOST:PORT`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("zk", "redis") or parts.hostname is None or parts.port is None:
            raise ValueError(f"{url}: zk://HOST:PORT?session_timeout=MS or redis://HOST:PORT")
        self.url = url
        self.host, self.port = parts.hostname, parts.port
        self.session_seconds = int(parse_qs(parts.query).get("session_timeout", ["10000"])[0]) / 1000
        self.is_zookeeper = parts.scheme == "zk"
