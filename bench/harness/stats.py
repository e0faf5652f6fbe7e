"""Percentiles and spreads."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie. Interpolates between two values."""
    if not values:
        raise ValueError("no values")
    if not 0 <= share <= 1:
        raise ValueError(f"{share} is not a share: 0 to 1")
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
    """A ratio, its confidence interval, and the spread of single rounds."""

    #: The median of the sittings' medians.
    median: float
    #: The 95 % confidence interval.
    low: float
    high: float
    #: The middle half of all rounds.
    q1: float
    q3: float
    #: The median of each sitting.
    sittings: list[float]
    count: int


#: The number of bootstrap draws, and the random seed: the same data always gives the same interval.
DRAWS, SEED = 1000, 1
CERTAINTY = 0.95


def spread(sittings: Sequence[Sequence[float]]) -> Spread:
    """The spread of all values. Each sitting counts once: some effects last for all of it."""
    medians = [median(values) for values in sittings]
    values = [value for sitting in sittings for value in sitting]
    dice = random.Random(SEED)
    drawn = [_draw(sittings, dice) for _ in range(DRAWS)]
    return Spread(
        median=median(medians),
        low=percentile(drawn, (1 - CERTAINTY) / 2),
        high=percentile(drawn, (1 + CERTAINTY) / 2),
        q1=percentile(values, 0.25),
        q3=percentile(values, 0.75),
        sittings=medians,
        count=len(values),
    )


def _draw(sittings: Sequence[Sequence[float]], dice: random.Random) -> float:
    """One bootstrap draw: sittings with replacement, and rounds of each with replacement."""
    again = dice.choices(sittings, k=len(sittings))
    return median([median(dice.choices(values, k=len(values))) for values in again])


def ratios(ours: Sequence[Sequence[float]], against: Sequence[Sequence[float]]) -> Spread:
    """The ratio of the times in each round, so that an effect that slows a whole round down cancels out."""
    if [len(rounds) for rounds in ours] != [len(rounds) for rounds in against]:
        raise ValueError(f"{len(ours)} sittings against {len(against)}, or rounds that are not the same")
    return spread(
        [
            [one / other for one, other in zip(rounds, others, strict=True)]
            for rounds, others in zip(ours, against, strict=True)
        ]
    )
