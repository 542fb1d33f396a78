"""Keep the lease of an export and tell of its progress, from a thread beside the one that builds it.

A thread, because the builder may sit in one long call: the server sorting, the storage taking a large file. It has a
database connection of its own, so others see the progress while the builder's transaction is open.

Invariant: once the row is no longer ours (cancelled, or the lease ran out and another worker has it), ``check``
raises HoldLost, and a statement that the builder waits for is cancelled.
"""

import threading
import time
from types import TracebackType
from typing import Any, Self

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from orders.exports.errors import HoldLost
from orders.exports.lease import Hold
from orders.exports.models import Export

log = structlog.get_logger(__name__)

_CANCEL_TIMEOUT_SECONDS = 5.0


class Heartbeat:
    """``with Heartbeat(hold) as heartbeat``: set ``rows_total``, add to ``rows_done``, call ``check`` often."""

    def __init__(self, hold: Hold) -> None:
        self.rows_done = 0
        self.rows_total: int | None = None
        self.is_lost = False
        self._hold = hold
        self._psycopg_connection: Any = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat-{hold.export_id}", daemon=True)

    def __enter__(self) -> Self:
        connection.ensure_connection()
        self._psycopg_connection = connection.connection
        self._thread.start()
        return self

    def __exit__(
        self, error_class: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def check(self) -> None:
        """Raise HoldLost if the export is no longer ours to build."""
        if self.is_lost:
            raise HoldLost

    def _beat(self) -> None:
        renewed_at = time.monotonic()
        try:
            while not self._stopped.wait(settings.EXPORTS["HEARTBEAT_SECONDS"]):
                renewed = self._renew()
                if renewed:
                    renewed_at = time.monotonic()
                if renewed is False or time.monotonic() - renewed_at > settings.EXPORTS["LEASE_SECONDS"]:
                    self._lose()
                    return
        finally:
            connection.close()

    def _renew(self) -> bool | None:
        """Return whether the row is still ours; None if the database does not answer."""
        try:
            return Export.objects.renew(self._hold, rows_done=self.rows_done, rows_total=self.rows_total)
        except DatabaseError as error:
            name = type(error).__name__
            log.warning("export_heartbeat_missed", export_id=str(self._hold.export_id), error_class=name)
            connection.close()
            return None

    def _lose(self) -> None:
        self.is_lost = True
        try:
            self._psycopg_connection.cancel_safe(timeout=_CANCEL_TIMEOUT_SECONDS)
        except Exception as error:
            log.info("export_not_interrupted", export_id=str(self._hold.export_id), error_class=type(error).__name__)
