"""Is this process being stopped? Then the handler has not failed, whatever it was raised out of.

Celery ends a child (hard time limit, cold shutdown) with SIGTERM, which billiard turns into SystemExit wherever the
child happens to be. The message must go back to its queue, not to the dead letters.
"""

from billiard.common import terminate_handler_fired  # type: ignore[attr-defined]  # not in the stubs


def is_being_stopped(error: BaseException) -> bool:
    """Tell a SystemExit that a signal raised from one that the handler raised itself."""
    return isinstance(error, SystemExit) and terminate_handler_fired()
