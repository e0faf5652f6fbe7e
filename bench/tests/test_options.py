"""Bad options, and missing programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import bench
from harness import programs
from harness.complaint import Complaint
from harness.options import parse
from harness.subjects import FAMILIES, SUBJECTS, Role, chosen


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--subjects", "rsut"], r"'rsut'; there are: .*rust"),
        (["--subjects", ","], "nothing; there are"),
        (
            ["--scenarios", "speed"],
            r"'speed'; there are: uncontended, handoff, contended, wire, queue, wakeups, contenders, "
            r"many, operations",
        ),
        (["--only", "mysql"], r"zookeeper.*redis"),
        (["--rounds", "0"], "not a number of rounds: 1 to 10000"),
        (["--rounds", "many"], "not a number of rounds: 1 to 10000"),
        (["--sittings", "0"], "not a number of sittings: 1 to 100"),
        (["--lengths", "10,x"], "'10,x' are no lengths of a line: 2 to 20000"),
        (["--lengths", "1"], "'1' are no lengths of a line"),
        (["--placement", "near"], "'near'.*apart.*together.*free"),
        (["--fast"], "unrecognized arguments: --fast"),
        (["--out", "/dev/null/x"], "--out /dev/null/x"),
    ],
)
def test_bad_options_say_what_exists(arguments: list[str], complaint: str) -> None:
    with pytest.raises(Complaint, match=complaint):
        parse(arguments)


def test_a_complaint_is_told_without_a_traceback() -> None:
    ran = bench("--subjects", "rsut")
    assert ran.returncode == 2
    assert ran.stderr.startswith("bench: --subjects names 'rsut'; there are: ")
    assert "Traceback" not in ran.stderr


def test_without_servers_it_says_how_to_start_them() -> None:
    ran = bench("--subjects", "python-raw", FENCEPOST_REDIS="", FENCEPOST_ZOOKEEPER="")
    assert ran.returncode == 2
    assert "FENCEPOST_ZOOKEEPER is not set: run `make bench`" in ran.stderr


def test_a_subject_of_the_other_server_is_an_error() -> None:
    with pytest.raises(Complaint, match="no subject ioredis for zookeeper"):
        chosen(["zookeeper"], ["ioredis"])


def test_a_subject_brings_what_it_is_held_against() -> None:
    names = [subject.name for subject in chosen(["zookeeper"], ["python"])]
    assert sorted(names) == ["kazoo-lock", "python", "python-raw"]


def test_what_was_not_built_is_named_with_its_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))
    monkeypatch.delenv("FENCEPOST_BENCH_RUST")
    monkeypatch.setenv("FENCEPOST_BENCH_C", str(tmp_path))
    monkeypatch.setattr(programs, "MODULES", tmp_path)
    monkeypatch.setattr(programs, "JARS", tmp_path)
    monkeypatch.setattr(programs, "CLASSES", tmp_path)
    monkeypatch.setattr(programs, "ROOT", tmp_path)
    with pytest.raises(Complaint) as caught:
        programs.check(SUBJECTS)
    for command in (
        "cargo build --release -p fencepost-bench",
        "make -C bench/c",
        "make build-wasm",
        "setup node",
        "tools/setup java",
        "make build-bench-java",
    ):
        assert command in str(caught.value)


def test_every_subject_of_ours_is_held_against_one_that_exists() -> None:
    there = {(subject.family, subject.name) for subject in SUBJECTS}
    assert len(there) == len(SUBJECTS)
    for subject in SUBJECTS:
        assert subject.family in FAMILIES
        assert bool(subject.limits) == (subject.role is Role.OURS)
        assert all((subject.family, limit.against) in there for limit in subject.limits)
