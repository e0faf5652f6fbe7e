"""The results on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from .results import Family, Results
from .stats import Spread
from .subjects import Role, Subject

HEADS = (
    *("acquire +\nrelease µs", "\np99", "times raw\n(middle half)", "times peer\n(middle half)"),
    *("hand-off\nms", "\np99", "8 clients\na second", "longest\nwait ms", "\np99"),
    *("requests/\nflights", "requests of\na hand-off"),
)
STYLES = {Role.OURS: "bold", Role.RAW: "dim", Role.PEER: "", Role.FLOOR: "dim"}
TITLES = {"zookeeper": "ZooKeeper", "redis": "Redis"}


def show(console: Console, results: Results) -> None:
    """Prints a table for each server, and one of the targets."""
    for name, family in results.families.items():
        console.print()
        console.print(_family(TITLES[name], family))
    if results.verdicts:
        console.print()
        console.print(_targets(results))


def _family(title: str, family: Family) -> Table:
    table = Table(title=title, title_justify="left", header_style="", pad_edge=False, box=None)
    table.add_column("subject")
    table.add_column("over")
    for head in HEADS:
        table.add_column(head, justify="right", no_wrap=True)
    for subject in family.subjects:
        table.add_row(*_row(family, subject), style=STYLES[subject.role])
    return table


def _row(family: Family, subject: Subject) -> list[str]:
    alone = family.uncontended.get(subject.name)
    passed_on = family.handoff.get(subject.name)
    eight = family.contended.get(subject.name)
    wire = family.wire.get(subject.name)
    row = [subject.name, subject.library]
    row += [f"{alone.p50:.0f}", f"{alone.p99:.0f}", *_ratios(alone.ratios)] if alone else [""] * 4
    row += [f"{passed_on.p50:.2f}", f"{passed_on.p99:.2f}"] if passed_on else ["", ""]
    row += [f"{eight.per_second:.0f}", f"{eight.longest:.0f}", f"{eight.p99:.0f}"] if eight else ["", "", ""]
    if eight and eight.overlaps:
        row[8] += f" ({eight.overlaps} OVERLAPS)"
    row += [f"{wire.requests:g}/{wire.flights:g}"] if wire else [""]
    row += [f"{wire.handoff_requests:g}"] if wire and wire.handoff_requests is not None else [""]
    return row


def _ratios(ratios: dict[str, Spread]) -> list[str]:
    columns = ["", ""]
    for against, ratio in ratios.items():
        columns[not against.endswith("-raw")] = f"{ratio.median:.2f} ({ratio.q1:.2f}-{ratio.q3:.2f})"
    return columns


def _targets(results: Results) -> Table:
    table = Table(title="Targets", title_justify="left", header_style="", pad_edge=False, box=None)
    for head in ("server", "subject", "target"):
        table.add_column(head)
    for head in ("is", "at most"):
        table.add_column(head, justify="right")
    table.add_column("")
    for verdict in results.verdicts:
        word = "[green]PASS[/]" if verdict.passed else "[bold red]MISS[/]"
        table.add_row(
            TITLES[verdict.family],
            verdict.subject,
            verdict.target,
            f"{verdict.value:.2f}" if not verdict.asserted else f"{verdict.value:g}",
            f"{verdict.at_most:.2f}" if not verdict.asserted else f"{verdict.at_most:g}",
            word,
        )
    return table
