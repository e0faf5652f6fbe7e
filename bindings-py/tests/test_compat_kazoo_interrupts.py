"""Ctrl-C at every place of ``with lock:`` at which the interpreter handles signals: no lock stays held."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import fencepost
import pytest
from kazoo_support import Kazoos
from support import LONG, ZooKeeperBackend

PACKAGE = str(Path(fencepost.__file__).parent)
#: After these instructions the interpreter checks for signals.
CHECKS = {"RESUME", "JUMP_BACKWARD", "CALL", "CALL_FUNCTION_EX"}
MOST = 1000


@pytest.fixture
def kazoos(zookeeper: ZooKeeperBackend) -> Iterator[Kazoos]:
    """Clients."""
    kazoos = Kazoos(zookeeper)
    yield kazoos
    kazoos.close()


class Signal:
    """Raises KeyboardInterrupt at the n-th such place in the package."""

    def __init__(self, at: int) -> None:
        self.place = ""
        self._left = at
        self._names: dict[CodeType, dict[int, str]] = {}
        self._last: dict[int, str] = {}

    def trace(self, frame: FrameType, event: str, argument: object) -> Any:
        """The function for ``sys.settrace``."""
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "opcode":
            code = frame.f_code
            if code not in self._names:
                self._names[code] = {each.offset: each.opname for each in dis.get_instructions(code)}
            before = self._last.get(id(frame))
            self._last[id(frame)] = self._names[code].get(frame.f_lasti, "")
            if before in CHECKS:
                self._left -= 1
                if self._left == 0:
                    self.place = f"{Path(code.co_filename).name}:{frame.f_lineno} {code.co_name}"
                    sys.settrace(None)
                    raise KeyboardInterrupt
        elif event == "return":
            self._last.pop(id(frame), None)
        return self._step


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the interpreter has other instructions")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["Lock", "ReadLock", "Semaphore"])
def test_ctrl_c_leaves_nothing(kazoos: Kazoos, name: str) -> None:
    client, other = kazoos.client("ours"), kazoos.client("ours")
    opposite = "WriteLock" if name == "ReadLock" else name
    with getattr(client, name)("/warm"):
        pass
    for at in range(1, MOST):
        recipe, against = getattr(client, name)("/l"), getattr(other, opposite)("/l")
        signal = Signal(at)
        before = sys.gettrace()
        sys.settrace(signal.trace)
        try:
            with recipe:
                pass
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        if not signal.place:
            break
        for each in (against, recipe):
            assert each.acquire(timeout=LONG), signal.place
            assert each.release(), signal.place
    assert 100 < at < MOST - 1
