"""Many tasks on one client, each with a lock of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import bench
from harness import programs
from harness.complaint import Complaint
from harness.many import Many, Run, Tasks, summary, takes_part
from harness.options import parse
from harness.results import Family
from harness.servers import Control, server_url
from harness.subjects import SUBJECTS, Role, Subject
from harness.targets import verdicts

MEASURED = [subject for subject in SUBJECTS if takes_part(subject)]
PAIRS = [subject for subject in MEASURED if subject.role in (Role.OURS, Role.RAW)]
#: The requests of a cycle.
REQUESTS = {"zookeeper": 3, "redis": 2}


def named(*names: str) -> list[Subject]:
    """Subjects on Redis."""
    return [subject for subject in SUBJECTS if subject.family == "redis" and subject.name in names]


def test_one_client_of_each_library_takes_part() -> None:
    libraries = {(subject.family, subject.library) for subject in SUBJECTS if not subject.operation}
    assert {(subject.family, subject.library) for subject in MEASURED} == libraries
    for subject in MEASURED:
        raw = [other for other in MEASURED if str(other) == f"{subject}-raw"]
        assert len(raw) == (subject.role is Role.OURS)


@pytest.mark.usefixtures("servers")
@pytest.mark.parametrize("subject", PAIRS, ids=str)
def test_ours_and_raw_send_the_same_requests_for_each_cycle_they_count(subject: Subject) -> None:
    programs.check([subject])
    control = Control()
    with control.proxy(subject.family) as proxy:
        worker = Tasks(subject, proxy.url, f"many-{subject.name}")
        try:
            worker.open(5)
            worker.run(0.05)  # directories, scripts
            for _ in range(10):
                proxy.forget()
                run = worker.run(0.05)
                counts = proxy.counts()
                # A session's confirmation is sent every few seconds.
                if counts.confirmations == 0:
                    break
        finally:
            worker.close()
    control.close()
    assert run.cycles >= 5
    assert counts.requests == REQUESTS[subject.family] * run.cycles, counts.kinds
    assert run.cpu > 0
    assert run.time >= 0.05e9


@pytest.mark.usefixtures("servers")
@pytest.mark.parametrize("subject", MEASURED, ids=str)
def test_every_task_makes_a_cycle_even_where_the_time_is_up_at_once(subject: Subject) -> None:
    programs.check([subject])
    worker = Tasks(subject, server_url(subject.family), f"once-{subject.name}")
    try:
        worker.open(5)
        worker.send("run 0")
        assert worker.receive()[0] == 5
    finally:
        worker.close()


@pytest.mark.usefixtures("servers")
def test_what_others_cannot_do_is_reported_and_ours_goes_on(tmp_path: Path) -> None:
    options = ["--quick", "--only", "redis", "--scenarios", "many", "--tasks", "2,1000"]
    ran = bench(*options, "--subjects", "asyncio,redis-py-lock-asyncio", "--out", str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    found = json.loads((tmp_path / "latest.json").read_text())
    many = found["results"]["redis"]["many"]
    few, crowd = many["asyncio"]
    assert (few["tasks"], crowd["tasks"]) == (2, 1000)
    assert few["ratios"]["asyncio-raw"]["median"] > 0
    assert few["held"] is few["waiting"] is None
    assert min(crowd["per_second"], crowd["cpu"], crowd["held"], crowd["waiting"]) > 0
    for other in ("asyncio-raw", "redis-py-lock-asyncio"):
        assert many[other][0]["per_second"] > 0
        assert "Too many connections" in many[other][1]["failed"]
    assert crowd["ratios"] == {}
    assert [target["target"] for target in found["targets"]] == ["a cycle of 2 tasks, times asyncio-raw"]
    assert "many tasks on one client" in ran.stdout


def test_turns_become_rates_and_ratios() -> None:
    pair = named("rust", "rust-raw")
    runs = {
        "rust": [[Run(100, 2_000_000, 500_000), Run(100, 4_000_000, 700_000)]],
        "rust-raw": [[Run(100, 1_000_000, 100_000), Run(200, 4_000_000, 400_000)]],
    }
    found = summary(pair, 16, runs, {}, {"rust": (1.5, 2.5)})
    assert found["rust"].rounds == [[20, 40]]
    assert found["rust"].per_second == pytest.approx(1e6 / 30)
    assert found["rust"].cpu == pytest.approx(6)
    assert found["rust"].ratios["rust-raw"].median == pytest.approx(2)
    assert (found["rust"].held, found["rust"].waiting) == (1.5, 2.5)
    assert (found["rust-raw"].held, found["rust-raw"].ratios) == (None, {})


def test_a_raw_client_that_fails_is_no_measure() -> None:
    pair = named("asyncio", "asyncio-raw")
    runs: dict[str, list[list[Run]]] = {"asyncio": [[Run(10, 1000, 1000)]], "asyncio-raw": [[]]}
    found = summary(pair, 256, runs, {"asyncio-raw": "too many"}, {})
    assert found["asyncio-raw"].failed == "too many"
    assert found["asyncio"].ratios == {}


@pytest.mark.parametrize(
    ("name", "time", "passed"),
    [("rust", 1.14, True), ("rust", 1.16, False), ("ioredis", 1.24, True), ("ioredis", 1.26, False)],
)
def test_shares_of_the_raw_rate_are_targets(name: str, time: float, passed: bool) -> None:
    pair = named(name, f"{name}-raw")
    runs = {name: [[Run(1, round(time * 1e6), 1)]], f"{name}-raw": [[Run(1, 1_000_000, 1)]]}
    many = summary(pair, 256, runs, {}, {})
    family = Family(pair, many={each: [found] for each, found in many.items()})
    (verdict,) = verdicts({"redis": family})
    assert verdict.target == f"a cycle of 256 tasks, times {name}-raw"
    assert (verdict.passed, verdict.asserted) == (passed, False)


@pytest.mark.parametrize(("cpu", "passed"), [(1.29, True), (1.31, False)])
def test_a_cycle_of_many_tasks_costs_what_one_of_few_costs(cpu: float, passed: bool) -> None:
    many = [Many(tasks, 1.0, cost, [], {}) for tasks, cost in ((16, 10.0), (256, 99.0), (2000, 10 * cpu))]
    family = Family(named("rust"), many={"rust": many})
    (verdict,) = verdicts({"redis": family})
    assert verdict.target == "processor time of a cycle, 2000 tasks over 16"
    assert verdict.passed is passed


@pytest.mark.parametrize(("cpu", "passed"), [(2.5, True), (2.7, False)])
def test_threads_may_cost_more_where_they_do_for_the_raw_client(cpu: float, passed: bool) -> None:
    def of(growth: float) -> list[Many]:
        return [Many(tasks, 1.0, cost, [], {}) for tasks, cost in ((16, 10.0), (2000, 10 * growth))]

    family = Family(named("c", "c-raw"), many={"c": of(cpu), "c-raw": of(2.0)})
    (verdict,) = verdicts({"redis": family})
    assert verdict.target == "processor time of a cycle, 2000 tasks over 16, times c-raw"
    assert verdict.passed is passed


@pytest.mark.parametrize("tasks", ["0", "x", "1,10001"])
def test_numbers_of_tasks_are_checked(tasks: str) -> None:
    with pytest.raises(Complaint, match="are no numbers of tasks: 1 to 10000"):
        parse(["--tasks", tasks])
