"""Messages in flight in a child stay the worker's until they have ended, also while the worker stops.

Celery forgets at its end each task that no child has said to have begun, also one that a child has in its pipe by then.
The child runs it all the same, and its answer is never read: the message is not acknowledged and runs again
elsewhere, and the child waits half a minute for its reader before it ends, and the worker for the child. Of a message
that was written half way the child waits for the rest, for ever.

Invariant: a stopping worker forgets only what no child will run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from billiard.pool import RUN
from celery.concurrency.asynpool import AsynPool


@contextmanager
def keeping_what_was_handed_out(pool: Any) -> Iterator[None]:
    """Let the pool of a worker that stops forget only what it has not handed out.

    A worker that has merely lost its broker forgets all of it: the broker gives it out again.
    """
    children = _children_of(pool)
    if children is None or children._state == RUN:
        yield
        return
    handed_out = {number: job for number, job in children._cache.items() if job._write_to is not None}
    for job in handed_out.values():
        _write_to_the_end(children, job)
    yield
    children._cache.update(handed_out)


def _children_of(pool: Any) -> Any:
    """Return the processes of a pool; None when it has none."""
    children = getattr(pool, "_pool", None)
    return children if isinstance(children, AsynPool) else None


def _write_to_the_end(children: Any, job: Any) -> None:
    writer = job._writer()  # a weak reference
    if writer in children._active_writers:
        children._flush_writer(job._write_to, writer)
