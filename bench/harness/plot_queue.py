"""The cost of a hand-off by the length of the queue, as a picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from .plot import COLOURS, INK, STYLE
from .queues import Queue
from .results import Results
from .subjects import Role

#: The line styles of the peers, which have one colour.
DASHES = ("-", "--", ":")
PANELS = (
    ("requests", "requests"),
    ("bytes_received", "bytes received"),
    ("p50", "time, ms (p50)"),
)


def draw(results: Results, folder: Path) -> list[Path]:
    """Writes `queue.svg`, if a queue was measured."""
    family = results.families.get("zookeeper")
    if family is None or not family.queue:
        return []
    path = folder / "queue.svg"
    roles = {subject.name: subject.role for subject in family.subjects}
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(PANELS), figsize=(8.8, 2.5), layout="constrained")
        for panel, (field, title) in zip(axes, PANELS, strict=True):
            _panel(panel, title)
            seen: dict[Role, int] = {}
            for name, lengths in family.queue.items():
                role = roles[name]
                dash = DASHES[seen.get(role, 0) % len(DASHES)]
                seen[role] = seen.get(role, 0) + 1
                _line(panel, lengths, field, name, COLOURS[role], dash)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    return [path]


def _panel(axes: Axes, title: str) -> None:
    axes.set_title(f"a hand-off: {title}", loc="left", fontsize=9)
    axes.set_xlabel("contenders in the queue")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(visible=True, color=INK, alpha=0.2, linewidth=0.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _line(axes: Axes, lengths: list[Queue], field: str, name: str, colour: str, dash: str) -> None:
    places = [each.contenders for each in lengths]
    values = [float(getattr(each, field)) for each in lengths]
    axes.plot(places, values, dash, color=colour, marker="o", markersize=3, linewidth=1.2, label=name)
