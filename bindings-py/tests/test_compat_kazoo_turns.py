"""Threads that share one of our recipes, during a release or a loss of the connection."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import pytest
from fencepost.compat import kazoo as ours
from fencepost.compat.kazoo._bridge import Bridge
from fencepost.compat.kazoo._recipe import RecipeContender
from kazoo.exceptions import CancelledError, ConnectionClosedError, ConnectionLoss, LockTimeout
from kazoo_support import Kazoos, Worker
from support import LONG, Control, ZooKeeperBackend, wait_until

NAMES = ["Lock", "ReadLock", "WriteLock", "Semaphore"]


class Line:
    """A client whose connection the test can hold or cut."""

    def __init__(self, zookeeper: ZooKeeperBackend, control: Control) -> None:
        self.kazoos = Kazoos(zookeeper)
        self._control = control
        proxy = control.do("proxy zookeeper")
        self._id = proxy["id"]
        self.client = self.kazoos.client("ours", hosts=proxy["address"])

    def do(self, verb: str) -> dict[str, Any]:
        """Sends a command to the proxy."""
        return self._control.do(f"proxy-{verb} {self._id}")

    def suspend(self, recipe: Any) -> None:
        """Cuts the connection."""
        self.do("cut")
        wait_until(lambda: not recipe.is_acquired, "the connection is lost")

    def release(self, recipe: Any) -> Release:
        """Starts a thread that releases. The proxy holds its request back."""
        self.do("reset")
        self.do("hold")
        release = Release(recipe)
        wait_until(lambda: self.do("count")["by_kind"].get("delete"), "it is being given back")
        return release


class Release:
    """A thread that releases."""

    def __init__(self, recipe: Any) -> None:
        self.result: Any = None
        self.thread = threading.Thread(target=self._run, args=(recipe,), daemon=True)
        self.thread.start()

    def _run(self, recipe: Any) -> None:
        self.result = recipe.release()

    def finish(self) -> Any:
        """Returns the result of the release."""
        self.thread.join(LONG)
        assert not self.thread.is_alive()
        return self.result


class Scope:
    """A thread with a body that needs the lock. It stores whether the recipe holds it."""

    def __init__(self, enter: Callable[[Callable[[], None]], None], recipe: Any) -> None:
        self.acquired = threading.Event()
        self.held: Any = None
        self.error: Any = None

        def body() -> None:
            self.held = recipe.is_acquired
            self.acquired.set()

        self.thread = threading.Thread(target=enter, args=(body,), daemon=True)
        self.thread.start()


@pytest.fixture
def line(zookeeper: ZooKeeperBackend, control: Control, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    """A client behind a proxy. Its releases wait as long as a test does."""
    for module in ("calls", "client"):
        monkeypatch.setattr(f"fencepost._client.{module}.CONFIRM_WITHIN", LONG)
    line = Line(zookeeper, control)
    yield line
    line.do("pass")
    line.do("heal")
    line.kazoos.close()


def waits(worker: Any) -> None:
    """Returns when the worker waits for its turn; fails if it does not."""

    def waiting() -> bool:
        frame = sys._current_frames().get(worker.thread.ident)
        names = []
        while frame is not None:
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        return names[:1] == ["wait"] and "_turn" in names

    wait_until(lambda: waiting() or not worker.thread.is_alive() or worker.acquired.is_set(), "it waits")
    assert not worker.acquired.is_set()
    assert worker.error is None


@pytest.mark.parametrize("name", [*NAMES, "Election"])
def test_no_body_runs_while_the_object_gives_back(line: Line, name: str) -> None:
    made = getattr(line.client, name)("/l")
    recipe = made.lock if name == "Election" else made

    def enter(body: Callable[[], None]) -> None:
        with recipe:
            body()

    recipe.acquire()
    release = line.release(recipe)
    scope = Scope(made.run if name == "Election" else enter, recipe)
    waits(scope)
    line.do("pass")
    assert scope.acquired.wait(LONG)
    assert scope.held is True
    assert release.finish() is True
    scope.thread.join(LONG)
    assert recipe.is_acquired is False
    assert line.kazoos.children("/l") == []


@pytest.mark.parametrize("name", NAMES)
def test_an_acquire_while_the_object_gives_back(line: Line, name: str) -> None:
    recipe = getattr(line.client, name)("/l")
    recipe.acquire()
    fence = recipe.fence
    release = line.release(recipe)
    assert recipe.acquire(blocking=False) is False
    if name == "Semaphore":
        with pytest.raises(LockTimeout, match="/l"):
            recipe.acquire(timeout=0.1)
    else:
        assert recipe.acquire(timeout=0.1) is False
    cancelled = Worker(recipe)
    waits(cancelled)
    recipe.cancel()
    cancelled.finish()
    assert isinstance(cancelled.error, CancelledError)
    worker = Worker(recipe)
    waits(worker)
    line.do("pass")
    assert release.finish() is True
    assert worker.acquired.wait(LONG)
    assert (worker.result, recipe.is_acquired) == (True, True)
    assert recipe.fence > fence
    worker.finish()
    assert worker.error is None


def test_the_time_for_two_waits_counts_once(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    semaphore = line.client.Semaphore("/s")
    semaphore.acquire()
    left: list[Any] = []
    contend = Bridge.contend

    def note(bridge: Bridge, hold: Any, checked: Any, wait: Any, *others: Any) -> None:
        left.append(wait)
        contend(bridge, hold, checked, wait, *others)

    monkeypatch.setattr(Bridge, "contend", note)
    release = line.release(semaphore)
    worker = Worker(semaphore, timeout=LONG)
    waits(worker)
    start = time.monotonic()
    line.do("count")
    waited = time.monotonic() - start
    line.do("pass")
    assert worker.acquired.wait(LONG)
    assert 0 < left[0] <= (LONG - waited) * 1e6
    assert release.finish() is True
    worker.finish()


@pytest.mark.parametrize("name", NAMES)
def test_a_release_whose_caller_has_gone(line: Line, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = getattr(line.client, name)("/l")
    recipe.acquire()
    monkeypatch.setattr("fencepost._client.calls.CONFIRM_WITHIN", 0.1)
    line.do("hold")
    with pytest.raises(ConnectionLoss):
        recipe.release()
    monkeypatch.setattr("fencepost._client.calls.CONFIRM_WITHIN", LONG)
    worker = Worker(recipe)
    waits(worker)
    line.do("pass")
    assert worker.acquired.wait(LONG)
    assert worker.result is True
    worker.finish()


def test_an_acquire_while_suspended_is_content_with_the_lease_that_was_kept(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle_event = RecipeContender.handle_event

    def ignore_confirmations(contender: RecipeContender, event: Any, cause: Any) -> bool:
        # The next confirmation would also end the wait, seconds later.
        return handle_event(contender, event, cause) and event.name != "extended"

    monkeypatch.setattr(RecipeContender, "handle_event", ignore_confirmations)
    semaphore = line.client.Semaphore("/s")
    semaphore.acquire()
    kept = (semaphore.fence, line.kazoos.children("/s"))
    line.suspend(semaphore)
    assert semaphore.acquire(blocking=False) is False
    with pytest.raises(LockTimeout, match="/s"):
        semaphore.acquire(timeout=0.1)
    worker = Worker(semaphore)
    waits(worker)
    line.do("heal")
    assert worker.acquired.wait(LONG)
    assert worker.result is True
    assert (semaphore.is_acquired, semaphore.fence, line.kazoos.children("/s")) == (True, *kept)
    worker.finish()


def test_an_acquire_while_suspended_acquires_anew_what_is_lost(
    line: Line, control: Control, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    semaphore, other = line.client.Semaphore("/s"), line.kazoos.client("ours").Semaphore("/s")
    semaphore.acquire()
    # As if the engine reported the loss late.
    late, semaphore._contender.on_loss = semaphore._contender.on_loss, []
    reports = Mock(wraps=semaphore.lost.set)
    monkeypatch.setattr(semaphore.lost, "set", reports)
    session, password = line.client.client_id
    line.suspend(semaphore)
    worker = Worker(semaphore)
    waits(worker)
    control.do(f"expire zookeeper {session} {password.hex()}")
    assert other.acquire(timeout=LONG) is True
    fence = other.fence
    line.do("heal")
    wait_until(lambda: worker.acquired.is_set() or line.kazoos.children("/s-__lock__"), "it contends anew")
    assert not worker.acquired.is_set()
    other.release()
    assert worker.acquired.wait(LONG)
    assert worker.result is True
    assert semaphore.fence > fence
    assert reports.call_count == 1
    for report in late:
        report()
    wait_until(lambda: "/s: lost after " in caplog.text, "the log says so")
    assert (reports.call_count, semaphore.is_acquired, semaphore.lost.is_set()) == (1, True, False)
    worker.finish()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("releasing", [False, True])
def test_a_stop_notifies_the_waiters(line: Line, name: str, releasing: bool) -> None:
    recipe = getattr(line.client, name)("/l")
    recipe.acquire()
    line.suspend(recipe)
    release = Release(recipe) if releasing else None
    if releasing:
        wait_until(lambda: recipe._contender.waiters, "it is being given back")
    worker = Worker(recipe)
    waits(worker)
    line.client.stop()
    worker.finish()
    assert isinstance(worker.error, ConnectionClosedError)
    assert recipe.is_acquired is False
    if release is not None:
        release.finish()


@pytest.mark.parametrize("recipe", [ours.Lock, ours.Semaphore])
def test_without_a_grant_there_is_no_body(recipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "acquire", lambda self: False)
    with pytest.raises(LockTimeout, match="/l"), recipe(ours.KazooClient(), "/l"):
        pytest.fail("the body ran")
