"""Replays the transcripts on Python's public hub, and compares its outputs byte for byte.

    python tests/replay/replay.py [FILE...]      # or: pytest tests/replay

The format is described in ``tests/transcripts/README.md``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fencepost.errors import FencepostError
from fencepost.hub import Command, Event, Hub, Record, Settings, Wait

ROOT = Path(__file__).resolve().parent.parent / "transcripts"
FILES = sorted(ROOT.glob("*/*.jsonl"))
ANY_VERSION = -1
PROMISES: dict[str, str] = json.loads((ROOT / "promises.json").read_text(encoding="utf-8"))

Step = dict[str, Any]


class Difference(Exception):
    """A hub has returned another output than its transcript."""


def replay(text: str) -> None:
    """Replays one transcript. Raises Difference, with the promises of the case and its reason."""
    header = json.loads(text.partition("\n")[0])
    broken = [f"{name} may be broken: {PROMISES[name]}" for name in header.get("guards", ())]
    try:
        play(header, text)
    except Difference as difference:
        raise Difference("\n".join([str(difference), *broken, f"the case: {header['why']}"])) from None


def play(header: Step, text: str) -> None:
    """Passes a transcript's inputs to a hub. Raises Difference."""
    lines = iter(enumerate(text.splitlines(), 1))
    next(lines)
    hub = Hub(header["family"], header["seed"])
    for number, line in lines:
        step = json.loads(line)
        misuse = put(hub, step)
        if misuse != step.get("misuse"):
            raise Difference(f"line {number}: misuse {misuse}, expected {step.get('misuse')}")
        for output in drain(hub):
            number, expected = next(lines, (number + 1, "nothing more"))
            if output != expected:
                raise Difference(f"line {number}:\n  returned {output}\n  expected {expected}")


def put(hub: Hub, step: Step) -> str | None:
    """Passes an input to the hub; returns the name of the misuse, if it was one."""
    try:
        INPUTS[step["do"]](hub, step["at"], step)
    except FencepostError as error:
        return error.name
    return None


def open_machine(hub: Hub, at: int, step: Step) -> None:
    """Opens a machine."""
    hub.open(at, Settings(json.dumps(step["settings"])), bytes.fromhex(step["contender"]), step["seed"])


def reply(hub: Hub, at: int, step: Step) -> None:
    """Passes a server's reply to the hub."""
    number = step["id"]
    match step["reply"]:
        case "created":
            hub.created(at, number, int(step["session"]), step["path"], int(step["czxid"]))
        case "children":
            hub.children(at, number, int(step["session"]), step["names"])
        case "data":
            session, czxid, owner = (int(step[field]) for field in ("session", "czxid", "owner"))
            mzxid, created = int(step.get("mzxid", czxid)), step.get("created", 0)
            times = (created, step.get("modified", created))
            hub.data(at, number, session, step["data"].encode(), czxid, mzxid, owner, step["version"], *times)
        case "done":
            hub.done(at, number, int(step["session"]))
        case "error":
            hub.error(at, number, int(step["session"]), step["code"])
        case "value":
            hub.reply(at, number, value(step["value"]))
        case "redis-error":
            hub.error_reply(at, number, step["error"])


def value(given: object) -> object:
    """A Redis value. Strings of a transcript are bytes on the wire."""
    match given:
        case str():
            return given.encode()
        case list():
            return [value(item) for item in given]
    return given


INPUTS: dict[str, Callable[[Hub, int, Step], object]] = {
    "open": open_machine,
    "acquire": lambda hub, at, step: hub.acquire(at, step["key"], step.get("acquire_timeout")),
    "try": lambda hub, at, step: hub.try_acquire(at, step["key"]),
    "extend": lambda hub, at, step: hub.extend(at, step["key"]),
    "release": lambda hub, at, step: hub.release(at, step["key"]),
    "downgrade": lambda hub, at, step: hub.downgrade(at, step["key"]),
    "complete": lambda hub, at, step: hub.complete(at, step["key"], step["tag"], step["result"].encode()),
    "leave": lambda hub, at, step: hub.leave(at, step["key"]),
    "cancel": lambda hub, at, step: hub.cancel(at, step["key"]),
    "close": lambda hub, at, step: hub.close(at, step["key"]),
    "shutdown": lambda hub, at, step: hub.shutdown(at),
    "timeout": lambda hub, at, step: hub.handle_timeout(at),
    "reply": reply,
    "fail": lambda hub, at, step: hub.failed(at, step["id"], step["failure"]),
    "session": lambda hub, at, step: hub.session(at, step["state"], int(step["session"]), step["timeout"]),
    "watch": lambda hub, at, step: hub.watch(at, step["id"], int(step["session"]), step["event"]),
    "message": lambda hub, at, step: hub.message(at, step["id"]),
    "gone": lambda hub, at, step: hub.gone(at, step["id"]),
}


def drain(hub: Hub) -> Iterator[str]:
    """All outputs of the hub, up to its wait, as lines."""
    while True:
        output = hub.poll_output()
        yield json.dumps(fields(output), ensure_ascii=False, separators=(",", ":"))
        if isinstance(output, Wait):
            return


def fields(output: Command | Event | Wait) -> dict[str, object]:
    """An output as the fields of its line, in their order."""
    if isinstance(output, Command):
        return command(output)
    if isinstance(output, Wait):
        return {"wait": output.until, "reason": output.reason}
    line: dict[str, object] = {"event": output.name, "key": output.key}
    match output.name:
        case "queued":
            line["ahead"] = output.ahead
        case "acquired":
            line["attempt"] = output.attempt
            line["fence"] = None if output.fence is None else str(output.fence)
            if output.takeovers:
                line["takeovers"] = output.takeovers
            line["valid_until"] = output.valid_until
        case "extended" | "resumed":
            line["valid_until"] = output.valid_until
        case "mixed-layouts":
            line["detail"] = output.detail
        case "completed" | "replayed" | "looked":
            line["record"] = None if output.record is None else record(output.record)
        case "swept":
            line["deleted"] = output.deleted
        case "found":
            line["contenders"] = [contender(*one) for one in output.found or ()]
        case "lost" | "refused":
            line |= {"reason": output.reason, "command": output.command, "detail": output.detail}
            if output.retry_after is not None:
                line["retry_after"] = output.retry_after
            if output.record is not None:
                line["record"] = record(output.record)
    return line


def record(of: Record) -> dict[str, object]:
    """A record as the fields of its line, in their order."""
    line: dict[str, object] = {"state": of.state, "attempt": of.attempt, "fence": str(of.fence)}
    line |= {"takeovers": of.takeovers, "policy": of.policy, "lease_end": of.lease_end}
    line |= {"kept_until": of.kept_until, "version": of.version, "tag": of.tag}
    return line | {"result": of.result.decode()}


def contender(
    node: str,
    holds: bool,
    shared: bool,
    session: int | None,
    since: int | None,
    expires_in: float | None,
    fence: int,
    identifier: str,
) -> dict[str, object]:
    """A contender as the fields of its line, in their order."""
    line: dict[str, object] = {"node": node, "holds": holds, "shared": shared}
    if session is not None:
        line["session"] = str(session)
    if since is not None:
        line["since"] = since
    if expires_in is not None:
        line["expires_in"] = round(expires_in * 1_000_000)
    return line | {"fence": str(fence), "identifier": identifier}


def command(output: Command) -> dict[str, object]:
    """A command as the fields of its line, in their order."""
    target = f"server-{output.server}" if output.target == "server" else output.target
    line: dict[str, object] = {"command": output.operation, "id": output.id, "key": output.key}
    line |= {"target": target, "deadline": output.deadline}
    if output.arguments:
        return line | {"arguments": [argument.decode() for argument in output.arguments]}
    line |= {"path": output.path, "data": output.data.decode(), "flags": output.flags}
    if output.operation == "multi":
        line["parts"] = [part(*one) for one in output.parts]
    return line


def part(operation: str, path: str, data: bytes, flags: int, version: int) -> dict[str, object]:
    """A write of a multi as the fields of its line, in their order."""
    line: dict[str, object] = {"command": operation, "path": path, "data": data.decode(), "flags": flags}
    return line if version == ANY_VERSION else line | {"version": version}


def main(files: list[Path]) -> int:
    """Replays the files and prints the summary line."""
    failed = 0
    for file in files:
        try:
            replay(file.read_text(encoding="utf-8"))
        except Difference as difference:
            failed += 1
            print(f"FAILED {file.parent.name}/{file.name}, {difference}")
    print(f"python: {len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]] or FILES))
