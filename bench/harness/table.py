"""The results on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from .results import Family, Results
from .stats import Spread
from .subjects import Role, Subject

HEADS = (
    *("acquire +\nrelease µs", "\np99", "times raw\n(95 %)", "times peer\n(95 %)"),
    *("hand-off\nms", "\np99", "8 clients\na second", "longest\nwait ms", "\np99"),
    *("requests/\nflights", "requests of\na hand-off"),
)
STYLES = {Role.OURS: "bold", Role.RAW: "dim", Role.PEER: "", Role.FLOOR: "dim"}
TITLES = {"zookeeper": "ZooKeeper", "redis": "Redis"}


def show(console: Console, results: Results) -> None:
    """Prints a table for each server, and one of the targets."""
    for name, family in results.families.items():
        if any(_has_row(family, subject.name) for subject in family.subjects):
            console.print()
            console.print(_family(TITLES[name], family))
        for table in (
            *_queue(TITLES[name], family),
            *_wakeups(TITLES[name], family),
            *_contenders(TITLES[name], family),
            *_many(TITLES[name], family),
            *_operations(TITLES[name], family),
        ):
            console.print()
            console.print(table)
    if results.verdicts:
        console.print()
        console.print(_targets(results))


def _plain(title: str, *heads: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="", pad_edge=False, box=None)
    table.add_column(heads[0])
    for head in heads[1:]:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _queue(title: str, family: Family) -> Iterator[Table]:
    heads = ("queue", "hand-off\nms", "\np99", "\nrequests", "\nevents", "bytes\nsent", "\nreceived")
    table = _plain(f"{title}: a hand-off by the length of the line", "subject", *heads)
    for name, lengths in family.queue.items():
        for each in lengths:
            times = (f"{each.contenders}", f"{each.p50:.2f}", f"{each.p99:.2f}", f"{each.requests:.3g}")
            table.add_row(
                name, *times, f"{each.events:.3g}", f"{each.bytes_sent:.0f}", f"{each.bytes_received:.0f}"
            )
    if family.queue:
        yield table


def _wakeups(title: str, family: Family) -> Iterator[Table]:
    ahead = next((each.ahead for each in family.wakeups.values()), 0)
    heads = (
        *(f"writer behind\n{ahead} readers", "the last\nleaves first", f"reader behind\n{ahead} writers"),
        *(f"{ahead} readers as\na writer leaves", "the writer\nbehind them"),
    )
    table = _plain(f"{title}: wake-ups", "library", *heads)
    for name, woken in family.wakeups.items():
        counts = (woken.writer, woken.writer_at_worst, woken.reader, woken.readers, woken.bystander)
        table.add_row(name, *(str(count) for count in counts))
    if family.wakeups:
        yield table


def _contenders(title: str, family: Family) -> Iterator[Table]:
    heads = ("queue", "ms", "p99", "requests", "flights")
    table = _plain(f"{title}: asking who holds and who waits", "subject", *heads)
    for name, looks in family.contenders.items():
        for each in looks:
            times = (f"{each.contenders}", f"{each.p50:.2f}", f"{each.p99:.2f}")
            table.add_row(name, *times, f"{each.requests}", f"{each.flights}")
    if family.contenders:
        yield table


def _many(title: str, family: Family) -> Iterator[Table]:
    heads = (
        *("tasks", "cycles\na second", "times raw\n(95 %)", "times peer\n(95 %)", "processor\nµs a cycle"),
        *("bytes of a\nlock held", "of a\nwaiter"),
    )
    table = _plain(f"{title}: many tasks on one client, each with a lock of its own", "subject", *heads)
    reasons = []
    for name, many in family.many.items():
        for each in many:
            if each.failed is not None:
                table.add_row(name, f"{each.tasks}", "failed")
                reasons.append(f"{name}, {each.tasks} tasks: {each.failed}")
                continue
            memory = ("" if size is None else f"{size:.0f}" for size in (each.held, each.waiting))
            numbers = (f"{each.per_second:.0f}", *_ratios(each.ratios), f"{each.cpu:.1f}")
            table.add_row(name, f"{each.tasks}", *numbers, *memory)
    table.caption, table.caption_justify = "\n".join(reasons), "left"
    if family.many:
        yield table


def _operations(title: str, family: Family) -> Iterator[Table]:
    heads = (
        *("claim +\ncomplete µs", "\np99", "\na second", "times raw\n(95 %)", "times peer\n(95 %)"),
        "requests/\nflights",
    )
    table = _plain(f"{title}: operations with a result of 1 KiB", "subject", *heads)
    for name, each in family.operations.items():
        times = (f"{each.p50:.0f}", f"{each.p99:.0f}", f"{1e6 / each.p50:.0f}")
        wire = family.operations_wire.get(name)
        counted = "" if wire is None else f"{wire.requests:g}/{wire.flights:g}"
        table.add_row(name, *times, *_ratios(each.ratios), counted)
    if family.crowd is not None:
        crowd = family.crowd
        table.caption = (
            f"12 clients, {crowd.keys} keys, each claimed by three clients at once: {crowd.executions} "
            f"operations have run, {crowd.answers} answers, {len(crowd.wrong)} wrong, {crowd.seconds:.0f} s"
        )
        table.caption_justify = "left"
    if family.operations:
        yield table


def _has_row(family: Family, name: str) -> bool:
    return any(name in each for each in (family.uncontended, family.handoff, family.contended, family.wire))


def _family(title: str, family: Family) -> Table:
    table = _plain(title, "subject", "over", *HEADS)
    table.columns[1].justify = "left"
    for subject in (each for each in family.subjects if _has_row(family, each.name)):
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
        columns[not against.endswith("-raw")] = f"{ratio.median:.2f} ({ratio.low:.2f}-{ratio.high:.2f})"
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
