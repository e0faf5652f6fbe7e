"""Where the workers are, and the commands that build them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .complaint import Complaint
from .subjects import Role, Subject

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
MODULES = ROOT / "bindings-wasm" / "node_modules"
JARS = ROOT / "build" / "jars"
CLASSES = ROOT / "build" / "bench" / "java"
#: The name of a library's package, if it differs.
PACKAGES = {"node-redis": "redis", "powertools-typescript": "@aws-lambda-powertools/idempotency"}
MODULES_OF = {
    "kazoo": "kazoo",
    "redis-py": "redis",
    "powertools-python": "aws_lambda_powertools, boto3",
    "asgi-idempotency-header": "fastapi, idempotency_header_middleware",
}


def command(subject: Subject, prefix: str = "") -> list[str]:
    """The worker's command line, without its address and lock. A prefix selects many contenders or tasks."""
    if prefix:
        *program, kind = command(subject)
        # Each of Curator's waiting threads may keep the list that it has read, so Java needs more memory.
        return [*(word.replace("-Xmx128m", "-Xmx2g") for word in program), f"{prefix}{kind}"]
    if subject.language == "python":
        return [sys.executable, str(BENCH / "python" / "worker.py"), subject.kind]
    if subject.language == "javascript":
        return ["node", str(BENCH / "javascript" / "worker.mjs"), subject.kind]
    if subject.language == "java":
        # Without -UsePerfData, a killed JVM leaves a file behind. Eight JVMs share the machine's memory.
        java = ["java", "-Xmx128m", "-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
        return [*java, "-cp", f"{CLASSES}:{JARS}/*", "Worker", subject.kind]
    if subject.language == "c":
        return [str(_c_program(subject)), subject.kind]
    return [str(_rust_program()), subject.kind]


def check(subjects: Iterable[Subject]) -> None:
    """Raises one Complaint that names everything that is missing, with the commands that build it."""
    missing = {complaint for subject in subjects for complaint in _missing(subject)}
    if missing:
        raise Complaint("\n".join(["something was not built:", *sorted(missing)]))


def _missing(subject: Subject) -> Iterable[str]:
    ours = subject.role is Role.OURS
    if subject.language == "rust" and not _rust_program().exists():
        yield f"  the Rust worker ({_short(_rust_program())}): cargo build --release -p fencepost-bench"
    if subject.language == "c" and not _c_program(subject).exists():
        yield f"  the C worker ({_short(_c_program(subject))}): make -C bench/c"
    if subject.language == "javascript":
        if shutil.which("node") is None:
            yield "  node: install Node.js 20 or later"
        if not (MODULES / PACKAGES.get(subject.library, subject.library)).exists():
            yield f"  {subject.library} (bindings-wasm/node_modules): tools/setup node"
        if ours and not (ROOT / "bindings-wasm" / "dist" / "index.js").exists():
            yield "  the JavaScript binding (bindings-wasm/dist): make build-wasm"
    if subject.language == "java":
        if not any(JARS.glob("curator-recipes-*.jar")):
            yield "  Java and Curator (build/jars): tools/setup java"
        if not (CLASSES / "Worker.class").exists():
            yield f"  the Java worker ({_short(CLASSES)}): make build-bench-java"
    if subject.language == "python":
        if not _works(f"import {MODULES_OF[subject.library]}"):
            yield f"  {subject.library}: tools/setup python"
        if ours and not _works("from fencepost import connect"):
            yield "  the Python binding (module fencepost): make build-py"


@cache
def _works(statement: str) -> bool:
    # In a separate process: the module path of this process is not the worker's.
    tried = [sys.executable, "-c", statement]
    return subprocess.run(tried, capture_output=True, cwd=BENCH / "python", check=False).returncode == 0


def _rust_program() -> Path:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return Path(os.environ.get("FENCEPOST_BENCH_RUST", target / "release")) / "fencepost-bench"


def _c_program(subject: Subject) -> Path:
    folder = Path(os.environ.get("FENCEPOST_BENCH_C", ROOT / "build" / "bench"))
    return folder / ("worker" if subject.role is Role.OURS else "raw")


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
