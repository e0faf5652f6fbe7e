"""Deletes one safety check after the other. Each time, the proof must fail and name the broken promise.

    make deletions                                  # all of them
    .venv/bin/python tests/deletions NAME...        # these

The program works in a copy of the project under build/deletions. It deletes a check there, builds the copy,
and runs the one test that must detect the deletion. First, the unchanged copy must pass all of these tests.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time

from deletions import DETECTORS, PROMISES, ROOT, Deletion, DoesNotApply, load

COPY = ROOT / "build" / "deletions" / "project"
TARGET = ROOT / "build" / "deletions" / "target"

#: Variables of cargo. The core is built for every deletion, so the build is incremental.
SETTINGS = {"CARGO_TARGET_DIR": str(TARGET), "CARGO_PROFILE_PROOF_INCREMENTAL": "true"}


def copy_project() -> None:
    """Updates the copy. Unchanged files keep their times, so that cargo does not build them again."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for old in COPY.rglob("*"):
        if old.is_file() and str(old.relative_to(COPY)) not in names:
            old.unlink()
    for name in sorted(names):
        source, copy = ROOT / name, COPY / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)


def cargo(detector: str, *more: str, machine: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the detector's test, with all machines or with one; or only builds it."""
    package, test, function = DETECTORS[detector]
    target = ["--test", test] if test else ["--lib"]
    command = ["cargo", "test", "--quiet", "--profile", "proof", "--package", package, *target]
    command += [*more] if more else [function] if function else []
    return subprocess.run(
        command,
        cwd=COPY,
        env={**os.environ, **SETTINGS, **({"FENCEPOST_MACHINE": machine} if machine else {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def detected(deletion: Deletion) -> str | None:
    """Deletes a check in the copy. Returns the fault of the proof, or None."""
    path = COPY / deletion.file
    source = path.read_text(encoding="utf-8")
    try:
        path.write_text(deletion.applied(source), encoding="utf-8")
        built = cargo(deletion.detected_by, "--no-run")
        if built.returncode:
            return f"does not build:\n{built.stdout[-3000:]}"
        ran = cargo(deletion.detected_by, machine=deletion.machine)
    except DoesNotApply as error:
        return str(error)
    finally:
        path.write_text(source, encoding="utf-8")
    if ran.returncode == 0:
        return "survives: the tests are green"
    named = set(re.findall(r"\b([A-Z]\d?) (?:\(.*\) is|may be) broken", ran.stdout))
    if deletion.promise not in named:
        said = ran.stdout if not named else ""
        return f"is red, but {deletion.promise} is not named; named are {sorted(named)}\n{said[-3000:]}"
    (COPY.parent / f"{deletion.name}.log").write_text(ran.stdout, encoding="utf-8")
    return None


def main(names: list[str]) -> int:
    """Runs the deletions with these names, or all. Returns 1 if one was not detected."""
    every = load()
    if unknown := set(names) - {deletion.name for deletion in every}:
        print(f"there is no deletion {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    wanted = [deletion for deletion in every if not names or deletion.name in names]
    copy_project()
    for detector in sorted({deletion.detected_by for deletion in wanted}):
        whole = cargo(detector)
        if whole.returncode:
            print(f"nothing is deleted, and {detector} is red:\n{whole.stdout[-3000:]}", file=sys.stderr)
            return 1
    failures = []
    print("| deletion | check | promise | detected by | |\n|---|---|---|---|---|", flush=True)
    for deletion in wanted:
        began = time.monotonic()
        failure = detected(deletion)
        verdict = "no" if failure else "yes"
        seconds = f"{verdict}, {time.monotonic() - began:.0f} s"
        promise = f"{deletion.promise} ({PROMISES[deletion.promise]})"
        row = (deletion.name, deletion.check, promise, deletion.detected_by, seconds)
        print("|", " | ".join(row), "|", flush=True)
        if failure:
            failures.append(f"{deletion.name} {failure}")
    print(f"\n{len(wanted) - len(failures)} detected, {len(failures)} not; stories in {COPY.parent}/*.log")
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
