"""The proxies in front of a real ZooKeeper."""

from __future__ import annotations

import threading

import pytest
from clients import kazoo, kazoo_client, kazoo_exceptions
from support import LONG, Control, wait_until


def test_zookeeper_requests_are_counted_by_kind(control: Control) -> None:
    proxy = control.do("proxy zookeeper")
    with kazoo(proxy["address"]) as client:
        client.create("/counted", b"")
        client.get("/counted")
        client.get("/counted", watch=lambda _: None)
        client.get_children("/", include_data=True)
        event = threading.Event()
        client.exists("/counted", watch=lambda _: event.set())
        transaction = client.transaction()
        transaction.set_data("/counted", b"x")
        transaction.commit()
        client.sync("/")
        client.delete("/counted")
        assert event.wait(LONG)
        counts = control.count(proxy)
        client.command(b"ruok")
    counts["by_kind"].pop("ping", None)
    watched = ["getData (no watch)", "getData"]
    expected = ["create", *watched, "getChildren2", "exists", "multi", "sync", "delete"]
    assert counts["by_kind"] == dict.fromkeys(expected, 1)
    assert (counts["total"], counts["flights"], counts["events"]) == (8, 8, 1)
    assert 0 < counts["bytes_sent"] < counts["bytes_received"] < 2000
    assert control.count(proxy)["by_kind"]["closeSession"] == 1


def test_zookeeper_requests_sent_together_are_one_flight(control: Control) -> None:
    proxy = control.do("proxy zookeeper")
    with kazoo(proxy["address"]) as client:
        control.do(f"proxy-hold {proxy['id']}")
        answers = [client.exists_async("/") for _ in range(10)]
        wait_until(lambda: control.count(proxy)["total"] == 10, "all requests came to the proxy")
        control.do(f"proxy-pass {proxy['id']}")
        assert all(answer.get(timeout=LONG) for answer in answers)
        assert control.count(proxy)["flights"] == 1


def test_a_lost_reply_of_zookeeper(control: Control) -> None:
    proxy = control.do("proxy zookeeper")
    with kazoo(proxy["address"]) as client:
        session = client.client_id
        control.do(f"proxy-drop-replies {proxy['id']} 1")
        with pytest.raises(kazoo_exceptions.ConnectionLoss):
            client.create("/lost", ephemeral=True)
        assert client.retry(client.exists, "/lost")
        assert client.client_id == session
        assert control.count(proxy)["replies_lost"] == 1


def test_a_session_outlives_a_cut(control: Control) -> None:
    proxy = control.do("proxy ensemble-1")
    with kazoo(proxy["address"]) as client:
        states: list[str] = []
        client.add_listener(states.append)
        client.create("/cut", ephemeral=True)
        control.do(f"proxy-cut {proxy['id']}")
        wait_until(lambda: states == [kazoo_client.KazooState.SUSPENDED], "the client notices")
        control.do(f"proxy-heal {proxy['id']}")
        assert client.retry(client.exists, "/cut").owner_session_id == client.client_id[0]
