"""Runs the scenarios in their order."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.status import Status

from . import (
    contended,
    contenders,
    handoff,
    many,
    operations,
    placement,
    plot,
    plot_queue,
    programs,
    queues,
    table,
    targets,
    uncontended,
    wakeups,
    wire,
)
from .complaint import Complaint
from .options import Options, parse
from .results import Family, Results, machine
from .servers import Control, server_url
from .subjects import chosen

WIDTH = 170


def main(arguments: Sequence[str]) -> int:
    """0: measured; 1: an asserted target was missed; 2: it could not be measured; 130: interrupted."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)  # a file or a log can be wide
    try:
        options = parse(arguments)
        results = measure(options, console)
        table.show(console, results)
        written = [results.write(options.out), plot.draw(results, options.out)]
        written += plot_queue.draw(results, options.out)
    except KeyboardInterrupt:
        return 130
    except Complaint as complaint:
        print(f"bench: {complaint}", file=sys.stderr)
        return 2
    console.print(f"\nWritten: {', '.join(str(path) for path in written)}")
    failed = [verdict for verdict in results.verdicts if verdict.asserted and not verdict.passed]
    for verdict in failed:
        print(f"bench: {verdict}", file=sys.stderr)
    return 1 if failed else 0


def measure(options: Options, console: Console) -> Results:
    """Measures everything that the options select."""
    subjects = [
        subject
        for subject in chosen(options.families, options.subjects)
        if subject.takes_part_in(options.scenarios)
    ]
    programs.check(subjects)
    families = {
        name: Family([subject for subject in subjects if subject.family == name])
        for name in options.families
        if any(subject.family == name for subject in subjects)
    }
    for name in families:
        server_url(name)  # raises now, not after minutes
    before = machine()
    control = Control()
    try:
        with console.status("starting") as status:
            for name, family in families.items():
                _family(name, family, options, control, status)
    finally:
        control.close()
    chosen_options = {**asdict(options), "out": None}
    del chosen_options["out"]
    return Results(chosen_options, families, list(targets.verdicts(families)), before)


def _family(name: str, family: Family, options: Options, control: Control, status: Status) -> None:
    # Names of this run only: they cannot match anything that an earlier run left behind.
    lock = f"bench-{uuid.uuid4().hex[:12]}"

    def saying(scenario: str) -> Callable[[str], None]:
        return lambda text: status.update(f"{name}, {scenario}: {text}")

    locks = [subject for subject in family.subjects if not subject.operation]
    if "uncontended" in options.scenarios:
        with placement.placed(name, options.placement, control):
            family.uncontended = uncontended.measure(locks, options, f"{lock}-u", saying("uncontended"))
    if "handoff" in options.scenarios:
        family.handoff = handoff.measure(locks, options, f"{lock}-h", saying("hand-off"))
    if "contended" in options.scenarios:
        family.contended = contended.measure(locks, options.seconds, f"{lock}-c", saying("eight clients"))
    if "queue" in options.scenarios:
        family.queue = queues.measure(locks, options, control, f"{lock}-q", saying("queue"))
    if "wakeups" in options.scenarios:
        family.wakeups = wakeups.measure(locks, control, f"{lock}-k", saying("wake-ups"))
    if "contenders" in options.scenarios:
        family.contenders = contenders.measure(locks, options, control, f"{lock}-l", saying("contenders"))
    if "many" in options.scenarios:
        with placement.placed(name, options.placement, control):
            family.many = many.measure(locks, options, f"{lock}-m", saying("many tasks"))
    if "wire" in options.scenarios:
        family.wire = wire.measure(locks, control, options.quick, f"{lock}-w", saying("on the wire"))
    if "operations" in options.scenarios:
        _operations(name, family, options, control, f"{lock}-o", saying("operations"))


def _operations(
    name: str, family: Family, options: Options, control: Control, scope: str, say: Callable[[str], None]
) -> None:
    own = [subject for subject in family.subjects if subject.operation]
    with placement.placed(name, options.placement, control):
        family.operations = operations.measure(own, options, scope, say)
    family.operations_wire = operations.count(own, options, control, f"{scope}-w", say)
    if options.subjects is None:
        family.crowd = operations.claim_all(name, options, f"{scope}-c", say)
