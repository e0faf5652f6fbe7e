"""The servers' control port, which other tests use."""

from __future__ import annotations

import threading

from support import LONG, Control


def test_threads_get_the_answers_to_their_own_commands(control: Control) -> None:
    proxies = [control.do("proxy redis-1")["id"] for _ in range(2)]
    answered: dict[str, list[str]] = {proxy: [] for proxy in proxies}

    def ask(proxy: str) -> None:
        for _ in range(100):
            answered[proxy].append(control.do(f"proxy-count {proxy}")["id"])

    threads = [threading.Thread(target=ask, args=(proxy,)) for proxy in proxies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert answered == {proxy: [proxy] * 100 for proxy in proxies}
