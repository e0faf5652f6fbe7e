"""Acquires fencepost's locks with threads, on command. Arguments: LAYOUT HOSTS SESSION_MS [LOGIN]"""

from __future__ import annotations

from python_peer import serve
from python_threads_recipes import ThreadRecipes

if __name__ == "__main__":
    serve(ThreadRecipes, "python-threads")
