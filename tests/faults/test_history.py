"""`conflicts` finds every violation in a book, and nothing else."""

from __future__ import annotations

import pytest
from book import Held
from history import conflicts


@pytest.mark.parametrize(
    ("permits", "book", "found"),
    [
        (None, [Held(1, 0, 10, False), Held(2, 10, 20, False)], 0),
        (None, [Held(1, 0, 10, False), Held(2, 9, 20, False)], 1),
        (None, [Held(2, 0, 10, False), Held(1, 10, 20, False)], 1),
        (None, [Held(3, 0, 10, True), Held(2, 1, 20, True), Held(4, 20, 30, False)], 0),
        (None, [Held(1, 0, 10, True), Held(2, 5, 20, False)], 1),
        (None, [Held(4, 0, 10, False), Held(3, 10, 20, True)], 1),
        (2, [Held(2, 0, 10, True), Held(1, 5, 20, True), Held(3, 10, 20, True)], 0),
        (2, [Held(2, 0, 10, True), Held(1, 5, 20, True), Held(3, 9, 20, True)], 1),
    ],
)
def test_every_violation_is_found(permits: int | None, book: list[Held], found: int) -> None:
    assert len(conflicts(book, permits)) == found
