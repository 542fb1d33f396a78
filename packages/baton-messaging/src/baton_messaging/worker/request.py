"""Celery's request ends a consumer's message in the worker's main process, with no way out that loses it.

- Celery acknowledges a message that has expired or was revoked, which removes it. Here it is rejected, and so reaches
  the dead letters.
- Of a child that was killed, or hit its hard limit, Celery tells no hook the cause when the message goes back (measured
  on 5.7, F21). Here the main process leaves a note, so that the list can say which it was.
"""

from typing import Any

from billiard.einfo import ExceptionWithTraceback  # type: ignore[attr-defined]  # not in the stubs
from billiard.exceptions import TimeLimitExceeded, WorkerLostError
from celery.exceptions import Ignore, Reject, Retry
from celery.worker import state
from celery.worker.request import Request

from baton_messaging.models.interruption import InterruptionKind
from baton_messaging.worker.interruptions import note

_ANSWERS = (Ignore, Reject, Retry)
MAX_TRACEBACK_CHARS = 20_000


class ConsumerRequest(Request):
    """One delivery to a consumer."""

    _is_refused = False

    def on_timeout(self, soft: bool, timeout: float) -> None:
        """Note a hard limit; the message goes back, and the broker counts."""
        if not soft and not state.should_terminate:
            self._note(InterruptionKind.TIME_LIMIT, f"{timeout:g} s")
        super().on_timeout(soft, timeout)

    def on_failure(self, exc_info: Any, send_failed_event: bool = True, return_ok: bool = False) -> None:
        """Note a lost child, or an error that the consumer's own handling let through."""
        error = exc_info.exception
        if isinstance(error, ExceptionWithTraceback):
            error = error.exc
        if isinstance(error, WorkerLostError | SystemExit | KeyboardInterrupt):
            self._note(InterruptionKind.KILLED, str(error))
        elif not isinstance(error, (*_ANSWERS, TimeLimitExceeded)):
            self._note(
                InterruptionKind.FAILED,
                f"{type(error).__name__}: {error}",
                str(exc_info.traceback)[-MAX_TRACEBACK_CHARS:],
            )
        super().on_failure(exc_info, send_failed_event=send_failed_event, return_ok=return_ok)

    def acknowledge(self) -> None:
        """End the delivery; a message that was not run goes to the dead letters."""
        if self._is_refused:
            self.reject(requeue=False)
        else:
            super().acknowledge()

    def _announce_revoked(self, reason: str, terminated: bool, signum: Any, expired: bool) -> None:
        self._is_refused = True
        if not expired:
            self._note(InterruptionKind.REVOKED, reason)
        super()._announce_revoked(reason, terminated, signum, expired)  # type: ignore[misc]  # not in the stubs

    def _note(self, kind: InterruptionKind, detail: str, traceback: str = "") -> None:
        worker = str(self.hostname or "")
        note(kind, task_id=self.id, consumer=self.name, worker=worker, detail=detail, traceback=traceback)
