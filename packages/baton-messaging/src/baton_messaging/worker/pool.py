"""Celery's pool of child processes notices at once that a child has ended: setting ``worker_pool``.

A child's end reaches the event loop by a pipe that the child held open. It is closed a moment before the system knows
the child's exit code, and Celery checks only once: if that is too early, the pool's round of every five seconds
finds out.
Until then the message of a child that was killed stays where it is, and the pool has a child less (celery#9588).

A time limit counts time in which the task could run. A machine that was suspended, or a worker that was stopped with
its children, would kill all that it ran in the moment it goes on. Here such a standstill is added to the limit.

It also keeps the children from copying what was imported: a sixth of a worker's start and most of its end.

Invariant: once a child has begun to end, the pool checks again until it has ended.
"""

import gc
from typing import Any, Final

from celery.concurrency.asynpool import AsynPool
from celery.concurrency.prefork import TaskPool as CeleryTaskPool

from baton_messaging.processes.standstill import standstill

RECHECK_SECONDS: Final = 0.05


class AttentivePool(AsynPool):
    """Checks again for the exit code of a child that has begun to end."""

    _pool: list[Any]  # the children
    _cache: dict[int, Any]  # the jobs that are not ready
    _tref_for_id: Any  # the timers of the limits, by job
    on_timeout_set: Any

    def _event_process_exit(self, hub: Any, child: Any) -> None:
        super()._event_process_exit(hub, child)  # type: ignore[misc]  # not in the stubs
        self._recheck_later(hub, child)

    def _recheck_later(self, hub: Any, child: Any) -> None:
        if child in self._pool:
            hub.call_later(RECHECK_SECONDS, self._recheck, hub, child)

    def _recheck(self, hub: Any, child: Any) -> None:
        self.maintain_pool()
        self._recheck_later(hub, child)

    def _create_timelimit_handlers(self, hub: Any) -> None:
        super()._create_timelimit_handlers(hub)  # type: ignore[misc]  # not in the stubs
        self._hub = hub
        set_timers = self.on_timeout_set

        def on_timeout_set(job: Any, soft: float | None, hard: float | None) -> None:
            job.stood_still_seconds = standstill.look()
            set_timers(job, soft, hard)

        self.on_timeout_set = on_timeout_set

    def _on_soft_timeout(self, number: int, soft: float, hard: float | None, hub: Any) -> None:
        if not self._is_excused(number, self._on_soft_timeout, soft, hard, hub):
            super()._on_soft_timeout(number, soft, hard, hub)  # type: ignore[misc]  # as above

    def _on_hard_timeout(self, number: int) -> None:
        if not self._is_excused(number, self._on_hard_timeout):
            super()._on_hard_timeout(number)  # type: ignore[misc]  # as above

    def _is_excused(self, number: int, when_over: Any, *arguments: Any) -> bool:
        """Wait once more for as long as nothing ran; tell whether there was such a time."""
        job = self._cache.get(number)
        if job is None:  # ready
            return False
        total_seconds = standstill.look()
        excused = total_seconds - getattr(job, "stood_still_seconds", total_seconds)
        job.stood_still_seconds = total_seconds
        if excused > 0:
            self._tref_for_id[number] = self._hub.call_later(excused, when_over, number, *arguments)
        return excused > 0


class TaskPool(CeleryTaskPool):
    """The pool of a worker: ``prefork``."""

    Pool = AttentivePool

    def on_start(self) -> None:
        """Fork the children. A search for garbage is not to write to what they share with us, which would copy it."""
        gc.freeze()
        super().on_start()
