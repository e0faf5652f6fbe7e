"""One peer of each language for all scenarios."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from peer import Peer


@pytest.fixture(scope="session")
def peers() -> Iterator[dict[str, Peer]]:
    """The peers that run. All have to end well."""
    running: dict[str, Peer] = {}
    yield running
    ends = {language: peer.close() for language, peer in running.items()}
    assert set(ends.values()) <= {0}, ends
