"""The jobs of the how-to of ``fencepost exec`` run unchanged; the reference matches the command."""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
import subprocess
from pathlib import Path

import pytest
from running import BLOCK, COMMAND, ROOT, on_real_servers, run

HOW_TO = (ROOT / "docs/how-to/run-a-command-under-a-lock.md").read_text()
REFERENCE = (ROOT / "docs/reference/command.md").read_text()
JOB = "/opt/shop/nightly-report"


def texts(tag: str) -> list[str]:
    """The snippets of the how-to with this tag."""
    return [block["text"] for block in BLOCK.finditer(HOW_TO) if block["tag"] == tag]


def crontabs() -> list[tuple[str, str]]:
    """The address and the shell's command of each crontab, as cron reads them."""
    found = []
    for text in texts("cron"):
        address, line = text.splitlines()
        found.append((address.partition("=")[2], line.split(" ", 5)[5].replace(r"\%", "%")))
    return found


def unit() -> tuple[str, str]:
    """The address and the command of the service."""
    (service,) = [text for text in texts("ini") if "[Service]" in text]
    settings = dict(line.split("=", 1) for line in service.splitlines() if "=" in line)
    return settings["Environment"].partition("=")[2], settings["ExecStart"]


def container() -> tuple[str, str]:
    """The command of the container, and an address for the one in the secret."""
    (text,) = texts("yaml")
    words = [json.loads(part) for part in re.findall(r"^ +(?:command|args): (\[.*\])$", text, re.MULTILINE)]
    assert len(words) == 2
    return "redis://localhost:6379", shlex.join(words[0] + words[1])


@pytest.mark.parametrize(("address", "command"), [*crontabs(), unit(), container()])
def test_a_job_runs_under_its_lock(address: str, command: str, tmp_path: Path) -> None:
    job, ran = tmp_path / "job", tmp_path / "ran"
    job.write_text(f'#!/bin/sh\necho "$FENCEPOST_LOCK $FENCEPOST_FENCE" >> {ran}\n')
    job.chmod(0o755)
    # Each test has another lock, and holds it no longer than needed.
    name = f"nightly-report-{tmp_path.name}-{os.getpid()}"
    command = command.replace(JOB, str(job)).replace("nightly-report", name).replace("60s", "60ms", 1)
    command = command.replace("--ttl 60ms", "--ttl 60s")
    path = f"{COMMAND.parent}:{os.environ['PATH']}"
    env = os.environ | {"FENCEPOST_URL": on_real_servers(address), "PATH": path}
    done = subprocess.run(
        ["sh", "-c", command], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = ran.read_text().splitlines()
    assert re.fullmatch(rf"{name} \d+", line)


def test_the_fence_is_checked() -> None:
    (statement,) = texts("sql")
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE report (name, content, fence)")
    database.execute("INSERT INTO report VALUES ('nightly', '', 0)")
    changed = [
        database.execute(statement, {"content": str(fence), "fence": fence}).rowcount for fence in (7, 9, 8)
    ]
    assert changed == [1, 1, 0]
    assert database.execute("SELECT content FROM report").fetchall() == [("9",)]
    database.close()


def test_no_job_has_gone_untested() -> None:
    counts = {tag: len(texts(tag)) for tag in ("console", "cron", "ini", "yaml", "sql")}
    assert counts == {"console": 4, "cron": 2, "ini": 2, "yaml": 1, "sql": 1}


def section(title: str) -> str:
    """The part of the reference below a heading."""
    return re.split(r"\n###? ", REFERENCE.split(f" {title}\n")[1])[0]


def test_the_reference_has_the_options_and_exit_codes_of_the_help(tmp_path: Path) -> None:
    shown = run(str(COMMAND), "exec", "--help", cwd=tmp_path)
    options, codes = shown.split("Exit codes:")
    documented = set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", options, re.MULTILINE)) - {"--help"}
    assert documented == set(re.findall(r"^\| (?:`-\w`, )?`(--[\w-]+)", section("exec"), re.MULTILINE))
    documented = set(re.findall(r"^  ([\dn+]+) ", codes, re.MULTILINE))
    assert documented == set(re.findall(r"^\| ([\dn+]+) \|", section("Exit codes"), re.MULTILINE))


def test_the_reference_has_the_variables() -> None:
    source = "".join(path.read_text() for path in (ROOT / "cli/src/exec").glob("*.rs"))
    named = set(re.findall(r'"(FENCEPOST_\w+)"', source))
    assert named == set(re.findall(r"^\| `(FENCEPOST_\w+)` \|", section("Environment"), re.MULTILINE))


def test_the_reference_has_the_outcomes_and_events() -> None:
    sources = {path.name: path.read_text() for path in (ROOT / "cli/src/exec").glob("*.rs")}
    events = set(
        re.findall(r'"event": "(\w+)"|"event"\.to_owned\(\), json!\("(\w+)"\)', sources["report.rs"])
    )
    assert {a or b for a, b in events} == set(re.findall(r"^\| `(\w+)` \|", section("Events"), re.MULTILINE))
    known = set(re.findall(r'Self::new\([^"]*"([a-z-]+)"', sources["code.rs"]))
    known |= set(re.findall(r'(?:=>|outcome:) "([a-z-]+)",', sources["mod.rs"] + sources["ending.rs"]))
    known |= set(re.findall(r'LOST: &str = "([a-z-]+)"', sources["mod.rs"]))
    paragraph = section("Events").split("`outcome` is ")[1].split(". ")[0]
    assert known == set(re.findall(r"`([a-z-]+)`", paragraph))


def test_the_reference_has_the_members_of_a_record() -> None:
    source = (ROOT / "cli/src/record/look.rs").read_text().split("fn as_json")[1].split("\n    }\n")[0]
    rows = re.findall(r"^\| (`[^|]+`) \|", section("record").split("| member |")[1], re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == set(re.findall(r'^ +"(\w+)": ', source, re.MULTILINE))
