"""The arithmetic."""

from __future__ import annotations

import pytest
from harness.contended import summary as contended
from harness.stats import median, percentile, ratios, spread
from harness.subjects import SUBJECTS
from harness.uncontended import companies, order, takes_part
from harness.uncontended import summary as uncontended
from harness.workers import Hold


def test_percentiles_lie_between_their_neighbours() -> None:
    assert median([3, 1, 2]) == 2
    assert median([1, 2, 3, 4]) == 2.5
    assert percentile([0, 10], 0.99) == pytest.approx(9.9)
    assert percentile([7], 0.99) == 7
    assert percentile(range(101), 0.25) == 25


def test_nothing_has_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        median([])
    with pytest.raises(ValueError, match="not a share"):
        percentile([1], 99)


def test_a_slow_round_cancels_out_of_the_ratio() -> None:
    found = ratios([[11, 22], [110]], [[10, 20], [100]])
    assert (found.median, found.q1, found.q3, found.count) == pytest.approx((1.1, 1.1, 1.1, 3))
    assert (found.low, found.high) == pytest.approx((1.1, 1.1))
    with pytest.raises(ValueError, match="1 sittings against 1, or rounds that are not the same"):
        ratios([[1]], [[1, 2]])


def test_the_spread_is_the_middle_half() -> None:
    found = spread([[1, 2, 3, 4, 100]])
    assert (found.median, found.q1, found.q3) == (3, 2, 4)


def test_a_sitting_counts_once_however_long() -> None:
    found = spread([[1] * 50, [2], [3]])
    assert (found.median, found.sittings, found.count) == (2, [1, 2, 3], 52)


def test_what_is_uncertain_is_told() -> None:
    # An effect that is the same in all rounds of a sitting: many rounds do not make the interval narrow.
    lucky = spread([[1.0] * 100, [1.5] * 100, [2.0] * 100])
    assert (lucky.low, lucky.median, lucky.high) == (1, 1.5, 2)
    quiet = spread([[1.5, 1.51, 1.52] * 30] * 8)
    assert 1.5 <= quiet.low <= quiet.median <= quiet.high <= 1.52
    assert spread([[1, 2, 3]]) == spread([[1, 2, 3]])


def test_times_become_microseconds_and_ratios() -> None:
    pair = [subject for subject in SUBJECTS if str(subject) in ("redis/rust", "redis/rust-raw")]
    times = {"rust": [[[2000, 2000, 9000], [4000, 4000, 4000]]], "rust-raw": [[[1000] * 3, [2000] * 3]]}
    found = uncontended(pair, times)
    assert found["rust"].rounds == [[2, 4]]
    assert found["rust"].p50 == 4
    assert found["rust"].ratios["rust-raw"].median == 2
    assert found["rust-raw"].ratios == {}


def test_who_is_held_against_each_other_sits_together() -> None:
    here = [subject for subject in SUBJECTS if subject.family == "zookeeper" and takes_part(subject)]
    found = [[subject.name for subject in company] for company in companies(here)]
    assert sorted(name for company in found for name in company) == sorted(each.name for each in here)
    assert ["rust-raw", "rust", "c-raw", "c", "c-given", "rust-single", "curator"] in found
    assert ["rust-semaphore", "c-semaphore", "curator-semaphore"] in found
    assert ["rust-multi", "curator-multi"] in found
    assert ["rust-election", "curator-election"] in found
    assert ["javascript-raw", "javascript"] in found
    for subject in here:
        (own,) = [company for company in found if subject.name in company]
        assert {limit.against for limit in subject.limits} <= set(own)


def test_everybody_comes_first_and_everybody_comes_once() -> None:
    names = ["a", "b", "c", "d"]
    rounds = [order(names, number) for number in range(8)]
    assert all(sorted(turn) == names for turn in rounds)
    assert {turn[0] for turn in rounds} == set(names)
    assert rounds[0] != rounds[1]


def test_turns_become_throughput_and_waits() -> None:
    one = [Hold(0, 1_000_000, 3_000_000), Hold(4_000_000, 6_000_000, 8_000_000)]
    two = [Hold(0, 4_000_000, 5_000_000)]
    found = contended([one, two], seconds=0.01)
    assert found.per_second == 300
    assert (found.longest, found.p50) == (4, 2)
    assert (found.shares, found.overlaps) == ([2, 1], 0)


def test_two_holders_at_once_are_noticed() -> None:
    found = contended([[Hold(0, 1, 5)], [Hold(0, 4, 6)]], seconds=1)
    assert found.overlaps == 1
