"""A worker that gets a fault while its claims are at every step."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from history import History
from peer import Answer
from worker import POLICIES, Proxy, Server, Worker, wait_until

#: The steps of a claim: its request is pending; it is claimed; it has had its effect; its completion is
#: pending.
STEPS = ("claiming", "claimed", "acted", "completing")

#: The possible reasons for the loss of a claim.
LOSSES = frozenset({"lease-ended", "session-expired", "superseded"})


class Victim:
    """The worker, and its claims: one for each policy and step, by their keys."""

    def __init__(self, language: str, server: Server, log: Path, history: History) -> None:
        self.language = language
        self._server, self._log, self._history = server, log, history
        self._proxy = Proxy(server)
        self.worker = Worker(language)
        self.worker.begin(server, server.lease, self._proxy)
        #: The policies of the keys.
        self.keys = {f"{step}-{policy}-{language}": policy for step in STEPS for policy in POLICIES}
        self.waiting = f"waiting-{language}"
        self._pending: dict[str, tuple[str, str]] = {}

    def of(self, step: str) -> list[str]:
        """The keys of one step."""
        return [key for key in self.keys if key.startswith(f"{step}-")]

    def work(self) -> None:
        """Brings every claim to its step before the fault, and waits for one that another worker has."""
        self._warm_up()
        for key in (*self.of("claimed"), *self.of("acted"), *self.of("completing")):
            self.worker.must("claimed", f"claim {key} {self.keys[key]} {key}")
        for key in (*self.of("acted"), *self.of("completing")):
            self.effect(key)
        self._send(self.waiting, f"claim {self.waiting} retake {self.waiting}")

    def hold(self) -> None:
        """Sends the requests that must be pending, which the proxy keeps."""
        self._proxy.hold()
        for key in self.of("claiming"):
            self._send(key, f"claim {key} {self.keys[key]} {key}")
        for key in self.of("completing"):
            self._send(key, f"complete {key} {self.result(key)}")
        for key in self.of("claiming"):
            self._wait_for_requests(key, self._server.requests_of_a_claim)
        for key in self.of("completing"):
            # The client's renewals also contain the key, but not the result.
            self._wait_for_requests(bytes.fromhex(self.result(key)).decode(), 1)

    def let_pass(self) -> None:
        """Lets the pending requests arrive."""
        self._proxy.let_pass()

    def go_on(self, keys: list[str]) -> None:
        """Continues like a program that has not noticed the fault: performs the effects, and completes."""
        for key in keys:
            step = key.partition("-")[0]
            if step in ("claimed", "acted"):
                lost = self.worker.ask(f"loss {key}")["answer"]
                assert lost in LOSSES, f"{self.language}: {key}: {lost}"
                self.carry_on(key, acted=step == "acted")
                continue
            number, line = self._pending.pop(key)
            answer = self.worker.answer(number, line)
            if answer["answer"] == "claimed":
                self.carry_on(key)
            elif step == "completing":
                self.completed(key, answer)
            else:
                self.refused(key, answer)

    def carry_on(self, key: str, *, acted: bool = False) -> None:
        """Performs the effect, and completes."""
        if not acted:
            self.effect(key)
        self.completed(key, self.worker.ask(f"complete {key} {self.result(key)}"))

    def effect(self, key: str) -> None:
        """Performs the effect of a claim."""
        self.worker.must("ok", f"effect {key} {key} {quote(str(self._log))}")

    def completed(self, key: str, answer: Answer) -> None:
        """Records the result of a completion: its own, or that of an earlier completion."""
        if answer["answer"] in LOSSES:
            # The claim was lost while the completion was pending. The server knows the result.
            answer = self.worker.ask(f"complete {key} {self.result(key)}")
        assert answer["answer"] in ("ok", "replayed"), f"{self.language}: {key}: {answer}"
        self._history.record(key, answer.get("result", self.result(key)))

    def refused(self, key: str, answer: Answer) -> None:
        """Records the answer to a claim that does not run the operation."""
        if answer["answer"] == "replayed":
            self._history.record(key, answer["result"])
        else:
            assert answer["answer"] in ("indeterminate", *LOSSES), f"{self.language}: {key}: {answer}"

    def result(self, key: str) -> str:
        """The result of this worker, as hexadecimal digits."""
        return f"{key} of the first owner".encode().hex()

    def end(self) -> None:
        """Ends the worker, and the proxy."""
        self._proxy.let_pass()
        try:
            self.worker.end()
        finally:
            self._proxy.close()

    def _warm_up(self) -> None:
        """Runs the steps that need more requests the first time: it loads scripts, and makes a connection for
        each request that will be pending: those of `hold`, and one renewal for each claim of `work`.
        """
        on_their_way = (2 + 3) * len(POLICIES)
        first, *others = (f"warm-{number}-{self.language}" for number in range(1 + on_their_way))
        self.worker.must("claimed", f"claim {first} retake {first}")
        self.worker.must("ok", f"complete {first} 00")
        self._proxy.hold()
        sent = self._proxy.requests + len(others) * self._server.requests_of_a_claim
        for key in others:
            self._send(key, f"claim {key} retake {key}")
        # The first request of a new connection does not belong to a claim.
        wait_until(lambda: self._proxy.requests >= sent, f"{self.language} has sent its claims")
        self._proxy.let_pass()
        for key in others:
            self.worker.answer(*self._pending.pop(key))
            self.worker.must("ok", f"complete {key} 00")

    def _wait_for_requests(self, text: str, number: int) -> None:
        wait_until(lambda: self._proxy.kept(text) >= number, f"{self.language} has sent {text}")

    def _send(self, key: str, line: str) -> None:
        self._pending[key] = (self.worker.send(line), line)
