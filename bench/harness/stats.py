"""Percentiles and spreads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie, between two of them by proportion."""
    if not values:
        raise ValueError("no values")
    if not 0 <= share <= 1:
        raise ValueError(f"{share} is no share: 0 to 1")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return percentile(values, 0.5)


@dataclass(frozen=True)
class Spread:
    """A median, and where the middle half of the values lies."""

    median: float
    q1: float
    q3: float
    count: int


def spread(values: Sequence[float]) -> Spread:
    """The spread of these values."""
    return Spread(median(values), percentile(values, 0.25), percentile(values, 0.75), len(values))


def ratios(rounds: Sequence[float], against: Sequence[float]) -> Spread:
    """How many times slower: one ratio a round, so that what slows a whole round down cancels out."""
    if len(rounds) != len(against):
        raise ValueError(f"{len(rounds)} rounds against {len(against)}")
    return spread([ours / theirs for ours, theirs in zip(rounds, against, strict=True)])
