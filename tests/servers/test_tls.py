"""The Redis with TLS: the clients that it accepts, and the names in its certificate."""

from __future__ import annotations

from typing import Any

import pytest
from clients import redis, redis_at
from support import LONG, Control


@pytest.fixture
def settings(addresses: dict[str, str]) -> dict[str, Any]:
    """The settings of a client."""
    return {
        "ssl": True,
        "ssl_ca_certs": addresses["FENCEPOST_REDIS_TLS_CA"],
        "password": addresses["FENCEPOST_REDIS_TLS_PASSWORD"],
        "socket_timeout": LONG,
    }


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_client_that_knows_the_authority_is_let_in(
    addresses: dict[str, str], settings: dict[str, Any], host: str
) -> None:
    port = addresses["FENCEPOST_REDIS_TLS"].split(":")[1]
    assert redis_at(f"{host}:{port}", **settings).ping()


def test_a_client_that_checks_refuses_the_wrong_host_and_the_wrong_authority(
    addresses: dict[str, str], settings: dict[str, Any]
) -> None:
    address = addresses["FENCEPOST_REDIS_TLS"]
    for at, ca in ((address.replace("127.0.0.1", "127.0.0.2"), "CA"), (address, "OTHER_CA")):
        settings["ssl_ca_certs"] = addresses[f"FENCEPOST_REDIS_TLS_{ca}"]
        with pytest.raises(redis.ConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
            redis_at(at, **settings).ping()


def test_the_password_is_asked_for_and_nothing_is_said_in_the_clear(
    addresses: dict[str, str], settings: dict[str, Any]
) -> None:
    address = addresses["FENCEPOST_REDIS_TLS"]
    with pytest.raises(redis.AuthenticationError):
        redis_at(address, **{**settings, "password": None}).ping()
    with pytest.raises(redis.ConnectionError):
        redis_at(address, socket_timeout=LONG).ping()


def test_it_is_flushed_and_its_proxy_is_cut(
    control: Control, addresses: dict[str, str], settings: dict[str, Any]
) -> None:
    redis_at(addresses["FENCEPOST_REDIS_TLS"], **settings).set("key", "value")
    proxy = control.do("proxy redis-tls")
    behind = redis_at(proxy["address"], **settings)
    assert behind.get("key") == b"value"
    control.do("flush redis-tls")
    assert behind.get("key") is None
    counts = control.count(proxy)
    assert (counts["total"], counts["by_kind"]) == (0, {})
    control.do(f"proxy-cut {proxy['id']}")
    with pytest.raises(redis.ConnectionError):
        behind.get("key")
