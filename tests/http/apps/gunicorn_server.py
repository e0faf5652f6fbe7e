"""Runs a WSGI application on gunicorn, with one worker."""

from __future__ import annotations

from typing import Any

import common
from gunicorn.app.base import BaseApplication


class _Server(BaseApplication):  # type: ignore[misc]
    def __init__(self, app: Any) -> None:
        self._app = app
        super().__init__()

    def load_config(self) -> None:
        for name, value in {
            "bind": f"127.0.0.1:{common.PORT}",
            "worker_class": "gthread",
            "threads": 16,
            "loglevel": "warning",
            "graceful_timeout": 10,
            "control_socket_disable": True,
        }.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return self._app


def serve(app: Any) -> None:
    """Serves until SIGTERM."""
    _Server(app).run()
