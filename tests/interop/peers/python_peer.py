"""Takes our locks on command, as ../README.md has it. Arguments: LAYOUT HOSTS SESSION_MS [LOGIN]"""

from __future__ import annotations

import asyncio
import sys
import threading
from importlib.metadata import version

from python_recipes import Recipes
from steered import end, obey_until_the_end, say


def main() -> None:
    """Obeys until the end."""
    layout, hosts, session, *login = sys.argv[1:]
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    recipes = Recipes(loop, layout, hosts, int(session), *login)
    ready = {"answer": "ready", "ok": True, "peer": f"python-{layout}", "version": version("fencepost")}
    say(ready)
    obey_until_the_end(recipes)
    recipes.close()
    end()


if __name__ == "__main__":
    main()
