"""The clients of all four languages on servers of all kinds."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing

import pytest
from counter import CounterServer
from servers import KINDS, LIMIT, ROOT, Server, running, wait_until
from test_mixed import CONTENDERS, finish
from test_mixed import start as start_among

#: Every client library that an address can select. In JavaScript, this is ioredis if node-redis is absent.
WITHOUT_NODE_REDIS = ["node", "--import", str(ROOT / "tests" / "redis-servers" / "without_redis.mjs")]
CLIENTS = {
    **CONTENDERS,
    "python-asyncio": [sys.executable, str(ROOT / "tests" / "mixed" / "contender_asyncio.py")],
    "ioredis": [*WITHOUT_NODE_REDIS, *CONTENDERS["javascript"][1:]],
}
ROUNDS = 20
#: The rights in docs/how-to/operate-redis.md, without a channel.
RIGHTS = ["~stock/*", "~{stock/*", "+evalsha", "+eval", "+get", "+set", "+del", "+pexpire", "+pttl", "+time"]


@pytest.fixture(params=CLIENTS)
def language(request: pytest.FixtureRequest) -> str:
    """Every language: Python with threads and on asyncio, JavaScript with both libraries."""
    return str(request.param)


@pytest.fixture(params=KINDS, scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Every kind of server."""
    with running(str(request.param)) as server:
        yield server


@pytest.fixture
def counter() -> Iterator[CounterServer]:
    with CounterServer() as counter:
        yield counter


def start(
    language: str, url: str, name: str, rounds: int, counter: CounterServer, *ttl_ms: str
) -> subprocess.Popen[str]:
    """Starts a contender of the mixed suite."""
    return start_among(language, url, name, rounds, counter, *ttl_ms, among=CLIENTS)


def work(languages: list[str], url: str, counter: CounterServer) -> None:
    """One contender of each language increments the counter `ROUNDS` times, and no increment is lost."""
    name = f"stock/{uuid.uuid4()}"
    contenders = [(language, start(language, url, name, ROUNDS, counter)) for language in languages]
    for language, contender in contenders:
        assert finish(language, contender) == {"done": ROUNDS, "stale": 0, "lost": 0}, language
    assert counter.counter.value == ROUNDS * len(languages)


def test_they_share_a_lock(server: Server, counter: CounterServer) -> None:
    work(list(CLIENTS), f"redis://{server.address}", counter)


def test_a_user_without_channels_is_enough(server: Server, counter: CounterServer) -> None:
    server.say("ACL", "SETUSER", "clerk", "reset", "resetchannels", "on", ">sesame", *RIGHTS)
    work(list(CLIENTS), f"redis://clerk:sesame@{server.address}", counter)


def test_a_full_server_is_enough(server: Server, counter: CounterServer) -> None:
    with closing(server.client()) as client:
        client.config_set("maxmemory", 1)
        try:
            work(list(CLIENTS), f"redis://{server.address}", counter)
        finally:
            client.config_set("maxmemory", 0)


@pytest.fixture(params=["redis-7.0", "valkey-9.1"], scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[tuple[Server, Server]]:
    """Two members of a cluster: the first has all slots, the second none."""
    settings = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000"]
    with running(request.param, *settings) as full, running(request.param, *settings) as empty:
        full.say("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        full.say("CLUSTER", "MEET", "127.0.0.1", empty.port)
        wait_until(lambda: is_whole(full) and is_whole(empty), "the cluster is whole")
        yield full, empty


def is_whole(member: Server) -> bool:
    """Whether the member knows the other one, and all slots."""
    # redis-py may have parsed the lines already.
    info = member.say("CLUSTER", "INFO").replace("'", "").replace(": ", ":")
    return "cluster_state:ok" in info and "cluster_known_nodes:2" in info


def test_a_cluster_of_one_member_is_enough(cluster: tuple[Server, Server], counter: CounterServer) -> None:
    work(list(CLIENTS), f"redis://{cluster[0].address}", counter)


def test_a_redirection_is_refused_with_its_remedy(
    cluster: tuple[Server, Server], language: str, counter: CounterServer
) -> None:
    contender = start(language, f"redis://{cluster[1].address}", "stock/42", ROUNDS, counter)
    _, said = contender.communicate(timeout=LIMIT)
    assert contender.returncode != 0
    assert "MOVED" in said, said
    assert "Redis Cluster" in said, said
