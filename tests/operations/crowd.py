"""Twelve clients in four languages, and many keys. Each key is claimed by three clients at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from history import History, read
from worker import LANGUAGES, Server, Worker

CLIENTS, AT_A_KEY, TASKS = 12, 3, 8


@dataclass(frozen=True)
class Outcome:
    """The results of all keys."""

    executions: int
    answers: int
    wrong: list[str]


def start() -> list[Worker]:
    """The workers. Two consecutive ones have different languages."""
    return [Worker(LANGUAGES[number % len(LANGUAGES)]) for number in range(CLIENTS)]


def claim_all(workers: list[Worker], server: Server, log: Path, keys: int) -> Outcome:
    """Each client claims every fourth key, as fast as it can. Three clients have the same keys."""
    parts = CLIENTS // AT_A_KEY

    def work(numbered: tuple[int, Worker]) -> tuple[int, int]:
        number, worker = numbered
        part = number // AT_A_KEY
        answer = worker.must("ok", f"work retake {quote(str(log))} {part} {parts} {keys} {TASKS} 0")
        return answer["ran"], answer["replayed"]

    for worker in workers:
        worker.begin(server)
    with ThreadPoolExecutor(CLIENTS) as threads:
        counted = list(threads.map(work, enumerate(workers)))
    for worker in workers:
        worker.must("ok", "reset")
    policies = {f"key-{number}": "retake" for number in range(keys)}
    effects, answers = read(log)
    wrong = History().wrong(log, policies)
    wrong += [f"{key} has run {len(ran)} times" for key, ran in effects.items() if len(ran) != 1]
    wrong += [f"{key} has {len(given)} answers" for key, given in answers.items() if len(given) != AT_A_KEY]
    if sum(ran for ran, _ in counted) != keys:
        wrong.append(f"the clients believe that {counted} operations have run")
    return Outcome(sum(map(len, effects.values())), sum(map(len, answers.values())), wrong)
