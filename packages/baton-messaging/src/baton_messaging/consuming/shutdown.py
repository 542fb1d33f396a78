"""A process that is being stopped, or whose time is up, raises what is no failure of the handler.

Celery ends a child (hard time limit, cold shutdown) with SIGTERM, which billiard turns into SystemExit wherever the
child happens to be. The message must go back to its queue, not to the dead letters.
"""

from billiard.common import terminate_handler_fired  # type: ignore[attr-defined]  # not in the stubs
from celery.exceptions import SoftTimeLimitExceeded


def is_being_stopped(error: BaseException) -> bool:
    """Tell a SystemExit that a signal raised from one that the handler raised itself."""
    return isinstance(error, SystemExit) and terminate_handler_fired()


def is_time_up(error: BaseException | None) -> bool:
    """Tell whether the soft limit is behind an error: what it interrupts may raise one of its own on the way out.

    It comes once. Whoever goes on after it is killed by the hard one.
    """
    while error is not None and not isinstance(error, SoftTimeLimitExceeded):
        error = error.__cause__ or error.__context__
    return error is not None
