"""Forks in a listener of kazoo, and acquires a lock in the child. Arguments: URL, name."""

from __future__ import annotations

import os
import sys
import threading
import warnings

import fencepost
from kazoo.client import KazooClient, KazooState

# About a fork in a process with threads, which is the subject of this test.
warnings.simplefilter("ignore", DeprecationWarning)

url, name = sys.argv[1:]
children: list[int] = []
forked = threading.Event()


def listen(state: str) -> None:
    """The listener. Kazoo calls it on the thread that reads the replies."""
    if state != KazooState.CONNECTED or children:
        return
    children.append(os.fork())
    if children[0]:
        forked.set()
        return
    try:
        with fencepost.connect(url) as own, own.lock(name).hold(timeout=30):
            print("granted", flush=True)
    except fencepost.FencepostError as error:
        print(error, flush=True)
    os._exit(0)


kazoo = KazooClient(url.partition("://")[2].partition("/")[0])
client = fencepost.Client(kazoo)
kazoo.add_listener(listen)
kazoo.start()
forked.wait(30)
os.waitpid(children[0], 0)
client.close()
kazoo.stop()
kazoo.close()
