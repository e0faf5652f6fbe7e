"""Errors that are printed without a traceback."""

from __future__ import annotations


class Complaint(Exception):
    """An error that the user can fix: an option, something that was not built, a worker that failed."""
