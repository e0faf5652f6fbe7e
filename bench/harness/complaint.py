"""Errors that are printed without a traceback."""

from __future__ import annotations


class Complaint(Exception):
    """What the user can do something about: an option, something that was not built, a worker that failed."""
