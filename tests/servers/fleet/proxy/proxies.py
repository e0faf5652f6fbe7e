"""All proxies of one run."""

from __future__ import annotations

from itertools import count

from ..ports import Ports
from ..server import Server, ServerError
from .proxy import Proxy


class Proxies:
    """The proxies by id."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._proxies: dict[str, Proxy] = {}
        self._numbers = count(1)

    async def open(self, server: Server) -> Proxy:
        """A new proxy in front of `server`."""
        proxy = Proxy(f"p{next(self._numbers)}", server, self._ports.take())
        await proxy.heal()
        self._proxies[proxy.identity] = proxy
        return proxy

    def find(self, identity: str) -> Proxy:
        """The proxy with this id."""
        if identity not in self._proxies:
            known = ", ".join(f"{proxy.identity} ({proxy.server.name})" for proxy in self.all())
            raise ServerError(f"no proxy {identity!r}; there are: {known or 'none'}")
        return self._proxies[identity]

    def all(self) -> list[Proxy]:
        """All proxies, the oldest first."""
        return list(self._proxies.values())

    async def close(self, proxy: Proxy) -> None:
        """Ends a proxy and its connections."""
        await proxy.cut()
        del self._proxies[proxy.identity]
        self._ports.release(proxy.port)
