"""Processes are compared by what they are wired to: which of them differs from the others, in what, and since when."""

from baton_messaging.health.diagnosis import Diagnosis


def wiring_differences() -> list[Diagnosis]:
    """Return what differs, each with the process's name. Raises the database's errors."""
    return []
