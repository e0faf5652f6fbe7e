"""Workers are killed, or stopped for longer than their leases, at every step of an operation.

A victim of every language has one claim for each step and policy. Other workers then claim the same keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import pytest
from history import History
from remains import remains
from victim import Victim
from worker import LANGUAGES, Server, Worker, wait_until

T = TypeVar("T")


class Scene:
    """The victims, and the workers that take over from them."""

    def __init__(self, server: Server, workers: dict[str, Worker], log: Path) -> None:
        self.server, self.workers, self._log = server, workers, log
        self.history = History()
        for worker in workers.values():
            worker.begin(server)
        self.victims = [Victim(language, server, log, self.history) for language in LANGUAGES]

    def reach_every_step(self) -> None:
        """Brings the claims of all victims to their steps."""
        for victim, (worker, _) in zip(self.victims, self.rescuers(), strict=True):
            worker.must("claimed", f"claim {victim.waiting} retake {victim.waiting}")
        self.at_once(Victim.work, self.victims)

    def rescuers(self) -> list[tuple[Worker, Worker]]:
        """For each victim, two workers of other languages."""
        names = (*LANGUAGES, *LANGUAGES)
        return [(self.workers[names[at + 1]], self.workers[names[at + 2]]) for at in range(len(self.victims))]

    def arrived(self) -> None:
        """Waits until the server has run the victims' pending requests."""
        for victim, (worker, _) in zip(self.victims, self.rescuers(), strict=True):
            for step, state in (("claiming", "running"), ("completing", "done")):
                for key in victim.of(step):
                    self._wait_for(worker, key, state)

    def rescue(self) -> None:
        """Two workers claim each key of each victim, at once, until it has a result or needs an operator."""
        cases = [
            (worker, key, policy)
            for victim, pair in zip(self.victims, self.rescuers(), strict=True)
            for key, policy in victim.keys.items()
            for worker in pair
        ]
        self.at_once(lambda case: self._claim(*case), cases)

    def settle(self, *policies: str) -> None:
        """An operator settles the operations without a result; later claims replay this result."""
        for victim, pair in zip(self.victims, self.rescuers(), strict=True):
            for key in (key for key, policy in victim.keys.items() if policy in policies):
                record = pair[0].must("ok", f"record retake {key}")
                if record["state"] != "done":
                    pair[0].must("ok", f"settle retake {key} {f'{key} settled'.encode().hex()}")

    def finish_waits(self) -> None:
        """Completes the operations that the victims wait for."""
        for victim, (worker, _) in zip(self.victims, self.rescuers(), strict=True):
            self._run(worker, victim.waiting)

    def check(self) -> None:
        """Claims every key once more, and checks everything."""
        policies = {victim.waiting: "retake" for victim in self.victims}
        for victim, (_, worker) in zip(self.victims, self.rescuers(), strict=True):
            policies |= victim.keys
            for key in (*victim.keys, victim.waiting):
                self.history.record(key, worker.must("replayed", f"claim end retake {key}")["result"])
        assert self.history.wrong(self._log, policies) == []
        assert remains(self.server, policies) == []

    @staticmethod
    def _wait_for(worker: Worker, key: str, state: str) -> None:
        wait_until(lambda: worker.ask(f"record retake {key}").get("state") == state, f"{key} is {state}")

    def _claim(self, worker: Worker, key: str, policy: str) -> None:
        option = " wait=false" if policy == "block" else ""
        answer = worker.ask(f"claim {key} {policy} {key}{option}")
        if answer["answer"] == "claimed":
            self._run(worker, key)
        elif answer["answer"] == "replayed":
            self.history.record(key, answer["result"])
        else:
            refusal = {"block": "in-progress", "indeterminate": "indeterminate"}.get(policy)
            assert answer["answer"] == refusal, f"{worker.language}: {key}: {answer}"

    def _run(self, worker: Worker, key: str) -> None:
        result = f"{key} of {worker.language}".encode().hex()
        worker.must("ok", f"effect {key} {key} {quote(str(self._log))}")
        worker.must("ok", f"complete {key} {result}")
        self.history.record(key, result)

    @staticmethod
    def at_once(do: Callable[[T], object], cases: Sequence[T]) -> None:
        """Runs `do` for all cases at once, and waits for all."""
        with ThreadPoolExecutor(len(cases)) as threads:
            list(threads.map(do, cases))


@pytest.fixture
def scene(server: Server, workers: dict[str, Worker], log: Path) -> Iterator[Scene]:
    """Victims at every step."""
    scene = Scene(server, workers, log)
    try:
        scene.reach_every_step()
        yield scene
    finally:
        scene.at_once(Victim.end, scene.victims)
        for worker in workers.values():
            worker.must("ok", "reset")


def test_killed_before_the_requests_arrive(scene: Scene) -> None:
    for victim in scene.victims:
        victim.hold()
        victim.worker.kill()
        victim.let_pass()
    scene.finish_waits()
    scene.rescue()
    scene.settle("block", "indeterminate")
    scene.check()


def test_killed_before_the_answers_arrive(scene: Scene) -> None:
    for victim in scene.victims:
        victim.hold()
        victim.worker.stop()
        victim.let_pass()
    scene.arrived()
    for victim in scene.victims:
        victim.worker.kill()
    scene.finish_waits()
    scene.rescue()
    scene.settle("block", "indeterminate")
    scene.check()


@pytest.mark.parametrize("late", [False, True], ids=["answers", "requests"])
def test_stopped_for_longer_than_the_lease(scene: Scene, late: bool) -> None:
    """`late`: whether the requests also arrive only when the worker continues, not just the replies."""
    for victim in scene.victims:
        victim.hold()
        victim.worker.stop()
        if not late:
            victim.let_pass()
    if not late:
        scene.arrived()
    scene.finish_waits()
    scene.rescue()
    # A blocked operation still belongs to its first owner.
    scene.settle("indeterminate")
    for victim in scene.victims:
        victim.let_pass()
        victim.worker.resume()
    scene.at_once(lambda victim: victim.go_on([*victim.keys, victim.waiting]), scene.victims)
    scene.check()
