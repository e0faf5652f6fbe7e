"""All measurements, and their file."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .contended import Contended
from .contenders import Look
from .handoff import HandOff
from .many import Many
from .operations import Crowd
from .queues import Queue
from .subjects import Subject
from .uncontended import Uncontended
from .wakeups import Wakeups
from .wire import Wire


@dataclass
class Family:
    """The results of one server, by the subject's name."""

    subjects: list[Subject]
    uncontended: dict[str, Uncontended] = field(default_factory=dict)
    handoff: dict[str, HandOff] = field(default_factory=dict)
    contended: dict[str, Contended] = field(default_factory=dict)
    wire: dict[str, Wire] = field(default_factory=dict)
    queue: dict[str, list[Queue]] = field(default_factory=dict)
    wakeups: dict[str, Wakeups] = field(default_factory=dict)
    contenders: dict[str, list[Look]] = field(default_factory=dict)
    many: dict[str, list[Many]] = field(default_factory=dict)
    #: A cycle is a claim and its completion.
    operations: dict[str, Uncontended] = field(default_factory=dict)
    operations_wire: dict[str, Wire] = field(default_factory=dict)
    crowd: Crowd | None = None


@dataclass(frozen=True)
class Verdict:
    """A target, and the measured value."""

    family: str
    subject: str
    target: str
    value: float
    at_most: float
    #: Whether a miss fails the run: counted values are asserted, timed values are only reported.
    asserted: bool

    @property
    def passed(self) -> bool:
        """Whether it was met."""
        return self.value <= self.at_most

    def __str__(self) -> str:
        return f"{self.family}/{self.subject}: {self.target}: {self.value:g}, not {self.at_most:g}"


@dataclass
class Results:
    """A run."""

    options: dict[str, Any]
    families: dict[str, Family]
    verdicts: list[Verdict]
    machine: dict[str, Any]

    def as_json(self) -> str:
        """The file's text."""
        document = {
            "machine": self.machine,
            "options": self.options,
            "targets": [{**asdict(verdict), "passed": verdict.passed} for verdict in self.verdicts],
            "results": {name: _family(family) for name, family in self.families.items()},
        }
        return json.dumps(rounded(document), indent=1) + "\n"

    def write(self, folder: Path) -> Path:
        """Writes `latest.json`."""
        path = folder / "latest.json"
        path.write_text(self.as_json(), encoding="utf-8")
        return path


def _family(family: Family) -> dict[str, Any]:
    scenarios: dict[str, dict[str, Any]] = {
        "uncontended": {**family.uncontended},
        "handoff": {**family.handoff},
        "contended": {**family.contended},
        "wire": {**family.wire},
        "wakeups": {**family.wakeups},
        "operations": {**family.operations},
        "operations_wire": {**family.operations_wire},
    }
    return {
        "subjects": {
            subject.name: {
                "role": subject.role.value,
                "language": subject.language,
                "library": subject.library,
            }
            for subject in family.subjects
        },
        **{
            name: {subject: asdict(result) for subject, result in results.items()}
            for name, results in scenarios.items()
        },
        "queue": {
            subject: [asdict(length) for length in lengths] for subject, lengths in family.queue.items()
        },
        "contenders": {
            subject: [asdict(look) for look in looks] for subject, looks in family.contenders.items()
        },
        "crowd": None if family.crowd is None else asdict(family.crowd),
        "many": {subject: [asdict(each) for each in many] for subject, many in family.many.items()},
    }


def rounded(value: Any) -> Any:
    """Rounds to four digits: no machine reproduces more."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value


def machine() -> dict[str, Any]:
    """The machine of the run."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "node": _version("node", "--version").removeprefix("v"),
        "redis": _word(_version("redis-server", "--version"), "v="),
        "load_before": round(os.getloadavg()[0], 1),
    }


def _version(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def _word(text: str, prefix: str) -> str:
    return next((word.removeprefix(prefix) for word in text.split() if word.startswith(prefix)), "")
