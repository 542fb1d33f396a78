"""Celery's pool of child processes notices at once that a child has ended: setting ``worker_pool``.

A child's end reaches the event loop by a pipe that the child held open. It is closed a moment before the system knows
the child's exit code, and Celery checks only once: if that is too early, the pool's round of every five seconds
finds out.
Until then the message of a child that was killed stays where it is, and the pool has a child less (celery#9588).

It also keeps the children from copying what was imported: a sixth of a worker's start and most of its end.

Invariant: once a child has begun to end, the pool checks again until it has ended.
"""

import gc
from typing import Any, Final

from celery.concurrency.asynpool import AsynPool
from celery.concurrency.prefork import TaskPool as CeleryTaskPool

RECHECK_SECONDS: Final = 0.05


class AttentivePool(AsynPool):
    """Checks again for the exit code of a child that has begun to end."""

    _pool: list[Any]  # the children

    def _event_process_exit(self, hub: Any, child: Any) -> None:
        super()._event_process_exit(hub, child)  # type: ignore[misc]  # not in the stubs
        self._recheck_later(hub, child)

    def _recheck_later(self, hub: Any, child: Any) -> None:
        if child in self._pool:
            hub.call_later(RECHECK_SECONDS, self._recheck, hub, child)

    def _recheck(self, hub: Any, child: Any) -> None:
        self.maintain_pool()
        self._recheck_later(hub, child)


class TaskPool(CeleryTaskPool):
    """The pool of a worker: ``prefork``."""

    Pool = AttentivePool

    def on_start(self) -> None:
        """Fork the children. A search for garbage is not to write to what they share with us, which would copy it."""
        gc.freeze()
        super().on_start()
