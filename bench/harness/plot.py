"""The results as a picture for the README: small, and readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from .results import Family, Results
from .subjects import Role, Subject

#: Halfway between black and white, so that the same file is readable on both.
INK = "#7d8590"
COLOURS = {Role.OURS: "#2f81f7", Role.RAW: "#8b949e", Role.PEER: "#db8b1d", Role.FLOOR: "#8b949e"}
LEGEND = {
    Role.OURS: "fencepost",
    Role.RAW: "the raw client, same requests",
    Role.PEER: "another lock",
}
TITLES = {"zookeeper": "ZooKeeper", "redis": "Redis"}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: a tenth of the size
    "svg.hashsalt": "fencepost",
    "font.family": "sans-serif",
    "font.size": 8,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


class Bar(NamedTuple):
    """A value, and its value in bad cases."""

    subject: Subject
    value: float
    worst: float


def draw(results: Results, folder: Path) -> Path:
    """Writes `latest.svg`."""
    path = folder / "latest.svg"
    families = [(name, family) for name, family in results.families.items()]
    with plt.rc_context(STYLE):
        tallest = max((len(_alone(family)) for _, family in families), default=1)
        figure, axes = plt.subplots(
            2,
            len(families),
            figsize=(4.4 * len(families), 1.6 + 0.34 * tallest),
            squeeze=False,
            layout="constrained",
            height_ratios=(1.35, 1),
        )
        for column, (name, family) in enumerate(families):
            title = TITLES[name]
            _bars(axes[0][column], _alone(family), f"{title}: acquire + release, µs", "{:.0f}".format)
            _bars(
                axes[1][column],
                _passed_on(family),
                f"{title}: hand-off, ms (log; line: p99)",
                "{:.2g}".format,
                log=True,
            )
        handles = [Patch(color=COLOURS[role], label=label) for role, label in LEGEND.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    return path


def _alone(family: Family) -> list[Bar]:
    return [
        Bar(subject, family.uncontended[subject.name].p50, family.uncontended[subject.name].p50)
        for subject in family.subjects
        if subject.name in family.uncontended
    ]


def _passed_on(family: Family) -> list[Bar]:
    return [
        Bar(subject, family.handoff[subject.name].p50, family.handoff[subject.name].p99)
        for subject in family.subjects
        if subject.name in family.handoff
    ]


def _bars(
    axes: Axes, bars: Sequence[Bar], title: str, text: Callable[[float], str], log: bool = False
) -> None:
    axes.set_title(title, loc="left", fontsize=9)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.set_xticks([])
    if not bars:
        axes.set_yticks([])
        return
    places = range(len(bars))
    axes.barh(
        places, [bar.value for bar in bars], color=[COLOURS[bar.subject.role] for bar in bars], height=0.72
    )
    if log:
        axes.set_xscale("log")
        axes.set_xlim(left=min(bar.value for bar in bars) / 2, right=max(bar.worst for bar in bars) * 3)
        axes.hlines(places, [bar.value for bar in bars], [bar.worst for bar in bars], color=INK, linewidth=1)
        axes.set_xticks([])
        axes.set_xticks([], minor=True)
    else:
        axes.set_xlim(right=max(bar.value for bar in bars) * 1.12)
    for place, bar in enumerate(bars):
        axes.annotate(text(bar.value), (bar.worst, place), (3, 0), textcoords="offset points", va="center")
    axes.set_yticks(places, [bar.subject.name for bar in bars])
    axes.tick_params(length=0)
    axes.invert_yaxis()
