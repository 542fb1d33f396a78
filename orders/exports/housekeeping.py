"""What has to be done about exports by the clock: take up what a killed worker left, end what has had its time.

Each function takes a small batch, one row at a time by a conditional UPDATE, so a doubled or missed run harms nothing
(F31, F78) and a run that is killed is continued by the next.
"""

from datetime import timedelta

import structlog
from baton_messaging.publish import publish
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from orders.events import ExportRequested
from orders.exports.files import delete_all_files
from orders.exports.lease import Hold
from orders.exports.models import Export
from orders.exports.states import REPEATABLE, ExportState, Failure

log = structlog.get_logger(__name__)

DOWNLOAD_SECONDS = 3_600  # that a download of the largest file may take
BATCH_SIZE = 100  # rows of one run; a run a minute or oftener makes that plenty


def take_up_abandoned() -> int:
    """Give exports whose worker is gone to another; end those that had their time, or their tries. Return how many."""
    abandoned = Export.objects.abandoned().order_by("pk")[:BATCH_SIZE]
    return sum(_take_up(export) for export in abandoned)


def expire_due() -> int:
    """End exports whose time is over; their files go with ``clean``. Return how many."""
    due = Export.objects.filter(state=ExportState.READY, expires_at__lte=Now()).order_by("expires_at")
    expired_count = 0
    for export_id in due.values_list("pk", flat=True)[:BATCH_SIZE]:
        if Export.objects.expire(export_id):
            log.info("export_expired", export_id=str(export_id))
            expired_count += 1
    return expired_count


def clean() -> int:
    """Delete the files of exports that ended without one or have expired. The row stays as the trace; return how many.

    Waits until a builder that has not heard of the end yet would have: it puts no file there after that. And until a
    download that has begun would be over: not every storage lets it go on.
    """
    unheard = Now() - timedelta(seconds=2 * settings.EXPORTS["LEASE_SECONDS"])
    unread = ~Q(state=ExportState.EXPIRED) | Q(expires_at__lt=Now() - timedelta(seconds=DOWNLOAD_SECONDS))
    uncleaned = Export.objects.filter(unread, state__in=REPEATABLE, cleaned_at__isnull=True, finished_at__lt=unheard)
    cleaned_count = 0
    for export in uncleaned.order_by("pk")[:BATCH_SIZE]:
        try:
            delete_all_files(export)
        except Exception:  # a storage that is down comes back; the other files have their turn
            log.exception("export_file_not_deleted", export_id=str(export.pk))
            continue
        Export.objects.filter(pk=export.pk).update(cleaned_at=Now())
        log.info("export_cleaned", export_id=str(export.pk), file_name=export.file_name)
        cleaned_count += 1
    return cleaned_count


def forget_old() -> int:
    """Delete the rows of exports that are long over and cleaned. Return how many."""
    age = timedelta(days=settings.EXPORTS["ROW_RETENTION_DAYS"])
    old = Export.objects.filter(cleaned_at__lt=Now() - age).order_by("pk").values_list("pk", flat=True)[:BATCH_SIZE]
    deleted_count, _by_model = Export.objects.filter(pk__in=list(old)).delete()
    return deleted_count


def _take_up(export: Export) -> bool:
    hold = Hold(export.pk, export.attempt_count)
    if Export.objects.fail_out_of_time(hold, limit=settings.EXPORTS["TIME_LIMIT_SECONDS"]):
        log.error("export_failed", export_id=str(export.pk), reason=Failure.TIME_LIMIT.value)
        return True
    if export.attempt_count >= settings.EXPORTS["MAX_ATTEMPTS"]:
        return _give_up(hold)
    return _put_back(hold, worker=export.worker)


def _give_up(hold: Hold) -> bool:
    changed = Export.objects.fail_abandoned(hold, Failure.WORKER_LOST, limit=hold.attempt)
    if changed:
        log.error("export_failed", export_id=str(hold.export_id), reason=Failure.WORKER_LOST.value)
    return changed


def _put_back(hold: Hold, *, worker: str) -> bool:
    with transaction.atomic():
        changed = Export.objects.put_back(hold)
        if changed:
            publish(ExportRequested(export_id=hold.export_id))
    if changed:
        log.warning("export_taken_up", export_id=str(hold.export_id), attempt=hold.attempt, worker=worker)
    return changed
