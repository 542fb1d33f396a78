"""Build the file of one export: claim it, write its rows from one snapshot, put the file in place, make it ready.

Invariants: of all workers that try, at any time, one holds the export; only the holder can make it ready. Whatever
happens, the row ends in a state that says so: here when the builder notices, in ``housekeeping`` when it was killed.
"""

from contextlib import closing
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import structlog
from baton_messaging.extend import is_database_away, is_time_up
from baton_messaging.publish import publish
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone, translation

from orders.events import ExportExpiring, ExportReady
from orders.exports import files
from orders.exports.columns import Source, order_source
from orders.exports.errors import FileIncomplete, HoldLost, StorageFailed
from orders.exports.formats import format_of
from orders.exports.heartbeat import Heartbeat
from orders.exports.lease import Hold
from orders.exports.models import Export
from orders.exports.selection import Selection
from orders.exports.snapshot import snapshot_of
from orders.exports.states import Failure

log = structlog.get_logger(__name__)


def build(export_id: UUID, *, worker: str) -> None:
    """Build the export unless it is in other hands, cancelled or finished.

    An error that has no word of its own is recorded and raised again, so that it ends with the dead letters, where
    operators look. When the database is away nothing is recorded: the lease runs out, and the export is taken up again.
    """
    hold = Export.objects.claim(export_id, worker=worker)
    if hold is None:
        log.info("export_not_claimed", export_id=str(export_id))
        return
    log.info("export_started", export_id=str(export_id), attempt=hold.attempt)
    try:
        _build(hold)
    except HoldLost:
        log.info("export_hold_lost", export_id=str(export_id), attempt=hold.attempt)
    except Exception as error:
        if not _is_recorded(hold, error):
            raise


def _build(hold: Hold) -> None:
    export = Export.objects.get(pk=hold.export_id)
    with Heartbeat(hold) as heartbeat, files.scratch_path(hold, export.format) as path:
        try:
            with translation.override(export.language):
                source = order_source(Selection.model_validate(export.selection).orders())
                row_count = write_file(path, source, export.format, heartbeat)
            name = files.file_name(hold.export_id, hold.attempt, export.format)
            size_bytes = files.put_in_place(path, name, heartbeat)
            _finish(hold, name, row_count, size_bytes)
        except Exception:
            heartbeat.check()  # when the export is no longer ours, whatever else went wrong matters no more
            raise


def write_file(path: Path, source: Source, format_name: str, heartbeat: Heartbeat) -> int:
    """Write the rows of a source from one snapshot and return their number. Raises FileIncomplete, HoldLost."""
    file_format = format_of(format_name)
    with snapshot_of(source) as snapshot, file_format.open(path, source.columns) as file:
        heartbeat.rows_total = total = snapshot.count()
        with closing(snapshot.copy(file_format.row_sql(source), options=file_format.copy_options)) as batches:
            for rows in batches:
                file.append(rows)
                heartbeat.rows_done = file.row_count
                heartbeat.check()
    if file.row_count != total:
        raise FileIncomplete(expected=total, got=file.row_count, what="rows")
    return total


def _finish(hold: Hold, name: str, row_count: int, size_bytes: int) -> None:
    """Make it ready. If the commit's fate is unknown the file stays: the row may name it, and if not, it is cleaned."""
    with transaction.atomic():
        is_ready = Export.objects.finish(hold, file_name=name, row_count=row_count, size_bytes=size_bytes)
        if is_ready:
            publish(ExportReady(export_id=hold.export_id))
            _remind(hold)
    if not is_ready:
        files.discard(name)
        raise HoldLost
    log.info("export_ready", export_id=str(hold.export_id), row_count=row_count, size_bytes=size_bytes)


def _remind(hold: Hold) -> None:
    """Let a mail go out before the file is deleted, if it is kept long enough for that."""
    reminded_after = timedelta(days=settings.EXPORTS["RETENTION_DAYS"], hours=-settings.EXPORTS["REMIND_HOURS"])
    if reminded_after > timedelta():
        publish(ExportExpiring(export_id=hold.export_id), at=timezone.now() + reminded_after)


def _is_recorded(hold: Hold, error: Exception) -> bool:
    """Record why it failed; False: operators have to hear of the error, too."""
    if is_time_up(error):
        connection.close()  # the limit may have come in the middle of a statement
        _fail(hold, Failure.TIME_LIMIT, limit=settings.EXPORTS["SOFT_TIME_LIMIT_SECONDS"])
    elif isinstance(error, FileIncomplete):
        log.error("export_incomplete", export_id=str(hold.export_id), exc_info=error)
        _fail(hold, Failure.INCOMPLETE, limit=error.expected)
    elif isinstance(error, (OSError, StorageFailed)):  # the scratch disk, the storage
        log.error("export_storage_failed", export_id=str(hold.export_id), exc_info=error)
        _fail(hold, Failure.STORAGE)
    else:
        if not is_database_away(error):
            _fail(hold, Failure.UNEXPECTED)
        return False
    return True


def _fail(hold: Hold, reason: Failure, *, limit: int | None = None) -> None:
    changed = Export.objects.fail(hold, reason, limit=limit)
    log.warning("export_failed", export_id=str(hold.export_id), reason=reason.value, recorded=changed)
