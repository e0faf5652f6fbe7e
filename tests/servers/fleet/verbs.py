"""The verbs of the control port: one verb per line, one JSON object per reply."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from . import expire
from .fleet import Fleet
from .member import Member
from .proxy.proxies import Proxies
from .proxy.proxy import Proxy
from .redis import Redis
from .server import Server, ServerError
from .wire import NoAnswer, split_address
from .zookeeper import ZooKeeper

Reply = dict[str, object]
Handler = Callable[..., Awaitable[Reply]]


class BadCommand(Exception):
    """A line that is no command."""


@dataclass(frozen=True)
class Verb:
    """A verb's usage, and its function."""

    usage: str
    does: Handler


class Verbs:
    """The verbs, on the servers and proxies of one run."""

    def __init__(self, fleet: Fleet, proxies: Proxies) -> None:
        self._fleet = fleet
        self._proxies = proxies
        verbs = [
            Verb("list", self._list),
            Verb("leader", self._leader),
            Verb("kill NAME", self._on_server(Server.kill)),
            Verb("stop NAME", self._on_server(Server.stop)),
            Verb("start NAME", self._on_server(Server.start)),
            Verb("restart NAME", self._on_server(Server.restart)),
            Verb("pause NAME", self._on_server(Server.pause)),
            Verb("resume NAME", self._on_server(Server.resume)),
            Verb("cut NAME", self._on_server(member(Member.cut))),
            Verb("depose NAME", self._on_server(member(Member.depose))),
            Verb("isolate NAME", self._on_server(member(Member.isolate))),
            Verb("heal NAME", self._on_server(member(Member.heal))),
            Verb("flush NAME", self._on_server(flush)),
            Verb("renumber NAME NUMBER PATHS", self._renumber),
            Verb("expire ADDR SESSION_ID PASSWORD_HEX", self._expire),
            Verb("proxy NAME", self._proxy),
            Verb("proxy-cut ID", self._on_proxy(Proxy.cut)),
            Verb("proxy-heal ID", self._on_proxy(Proxy.heal)),
            Verb("proxy-hold ID", self._on_proxy(Proxy.hold)),
            Verb("proxy-pass ID", self._on_proxy(Proxy.release)),
            Verb("proxy-kept ID TEXT_HEX", self._proxy_kept),
            Verb("proxy-slow ID MS", self._proxy_slow),
            Verb("proxy-ignore ID N", self._proxy_ignore),
            Verb("proxy-drop-replies ID N", self._proxy_drop_replies),
            Verb("proxy-count ID", self._proxy_count),
            Verb("proxy-reset ID", self._proxy_reset),
            Verb("proxy-close ID", self._proxy_close),
        ]
        self._verbs = {verb.usage.split()[0]: verb for verb in verbs}

    async def obey(self, line: str) -> Reply:
        """Runs a line. The reply always has `ok`, and `error` if `ok` is false."""
        try:
            return {"ok": True, **await self._obey(line.split())}
        except (BadCommand, ServerError, NoAnswer, ValueError) as error:
            return {"ok": False, "error": str(error)}
        except Exception as error:  # a defect in this program: report it, and continue to serve
            return {"ok": False, "error": f"internal error: {error!r}"}

    async def _obey(self, words: list[str]) -> Reply:
        known = "; ".join(verb.usage for verb in self._verbs.values())
        if not words:
            raise BadCommand(f"empty command; there are: {known}")
        name, *arguments = words
        if name not in self._verbs:
            raise BadCommand(f"no verb {name!r}; there are: {known}")
        verb = self._verbs[name]
        if len(arguments) != len(verb.usage.split()) - 1:
            raise BadCommand(f"{name} takes {len(verb.usage.split()) - 1} arguments; usage: {verb.usage}")
        return await verb.does(*arguments)

    async def _list(self) -> Reply:
        servers = [describe(server) for server in self._fleet.servers.values()]
        return {"servers": servers, "proxies": [proxy.describe() for proxy in self._proxies.all()]}

    async def _leader(self) -> Reply:
        if self._fleet.ensemble is None:
            raise ServerError("this run has no ensemble")
        return describe(await self._fleet.ensemble.leader())

    def _on_server(self, action: Callable[[Server], Awaitable[None]]) -> Handler:
        async def handler(name: str) -> Reply:
            server = self._fleet.find(name)
            async with server.busy:
                await action(server)
            return describe(server)

        return handler

    async def _renumber(self, name: str, number: str, paths: str) -> Reply:
        server = self._fleet.find(name)
        if not isinstance(server, ZooKeeper):
            raise ServerError(f"{name} has no numbers: it is no ZooKeeper")
        async with server.busy:
            await server.renumber(int(number), paths.split(","))
        return describe(server)

    def _on_proxy(self, action: Callable[[Proxy], Awaitable[None]]) -> Handler:
        async def handler(identity: str) -> Reply:
            proxy = self._proxies.find(identity)
            await action(proxy)
            return proxy.describe()

        return handler

    async def _expire(self, address: str, session: str, password: str) -> Reply:
        if address in self._fleet.servers:
            address = self._fleet.servers[address].address
        host, port = split_address(address)
        number = expire.parse_session(session)
        await expire.expire(host, port, number, bytes.fromhex(password))
        return {"session": expire.show(number)}

    async def _proxy(self, name: str) -> Reply:
        proxy = await self._proxies.open(self._fleet.find(name))
        return proxy.describe()

    async def _proxy_kept(self, identity: str, text: str) -> Reply:
        return {"id": identity, "kept": self._proxies.find(identity).kept(bytes.fromhex(text))}

    async def _proxy_slow(self, identity: str, millis: str) -> Reply:
        proxy = self._proxies.find(identity)
        proxy.slow(float(millis) / 1000)
        return proxy.describe()

    async def _proxy_ignore(self, identity: str, number: str) -> Reply:
        proxy = self._proxies.find(identity)
        if not number.isdigit():
            raise BadCommand(f"not a number of connections: {number!r}")
        proxy.ignore(int(number))
        return proxy.describe()

    async def _proxy_drop_replies(self, identity: str, number: str) -> Reply:
        proxy = self._proxies.find(identity)
        if not number.isdigit():
            raise BadCommand(f"not a number of requests: {number!r}")
        proxy.meter.lose_reply(int(number))
        return proxy.describe()

    async def _proxy_count(self, identity: str) -> Reply:
        return {"id": identity, **self._proxies.find(identity).meter.report()}

    async def _proxy_reset(self, identity: str) -> Reply:
        self._proxies.find(identity).meter.reset()
        return await self._proxy_count(identity)

    async def _proxy_close(self, identity: str) -> Reply:
        await self._proxies.close(self._proxies.find(identity))
        return {"id": identity}


async def flush(server: Server) -> None:
    """Empties a Redis."""
    if not isinstance(server, Redis):
        raise ServerError(f"{server.name} is a {server.kind}; only a redis can be flushed")
    await server.flush()


def member(action: Callable[[Member], Awaitable[None]]) -> Callable[[Server], Awaitable[None]]:
    """An action on a member of the ensemble that has a network namespace of its own."""

    async def does(server: Server) -> None:
        if not isinstance(server, Member):
            raise ServerError(
                f"{server.name} has no network namespace; only members of an ensemble have, "
                "in a run with --namespaces"
            )
        await action(server)

    return does


def describe(server: Server) -> Reply:
    """The fields of a server in replies."""
    contact = {"contact": server.contact} if isinstance(server, Member) else {}
    return {
        "name": server.name,
        "kind": server.kind,
        "address": server.address,
        "state": server.state,
        "pid": server.pid,
        **contact,
    }
