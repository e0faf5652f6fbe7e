"""Acquires fencepost's locks on command, see ../README.md. Arguments: LAYOUT HOSTS SESSION_MS [LOGIN]"""

from __future__ import annotations

import sys
from importlib.metadata import version

from python_recipes import Recipes
from steered import end, obey_until_the_end, say


def serve(kind: type[Recipes], name: str) -> None:
    """Runs commands until the end."""
    layout, hosts, session, *login = sys.argv[1:]
    recipes = kind(layout, hosts, int(session), *login)
    say({"answer": "ready", "ok": True, "peer": name, "version": version("fencepost")})
    obey_until_the_end(recipes)
    recipes.close()
    end()


if __name__ == "__main__":
    serve(Recipes, f"python-{sys.argv[1]}")
