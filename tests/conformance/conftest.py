"""One peer of each language runs all scenarios."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from peer import Peer


@pytest.fixture(scope="session")
def peers() -> Iterator[dict[str, Peer]]:
    """The running peers. At the end, each must exit with 0."""
    running: dict[str, Peer] = {}
    yield running
    ends = {language: peer.close() for language, peer in running.items()}
    assert set(ends.values()) <= {0}, ends
