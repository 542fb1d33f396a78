"""What can be done with exports. Each function is one use case and one transaction.

Invariant: at no time has a person more than MAX_ACTIVE_PER_PERSON exports waiting or running, nor all people together
more than MAX_ACTIVE. A request that adds one holds a lock in the database while counting and inserting, so twenty that
race are counted one after the other.
"""

from uuid import UUID

import structlog
from baton_messaging.extend import progress_of
from baton_messaging.publish import publish
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connection, transaction

from orders.events import ExportRequested
from orders.exports.errors import (
    ExportForbidden,
    ExportNotActive,
    ExportNotFound,
    ExportNotRepeatable,
    QueueFull,
    TooManyExports,
)
from orders.exports.models import Export
from orders.exports.selection import Selection
from orders.exports.states import ExportState, Failure, Format
from orders.rights import Right, may

log = structlog.get_logger(__name__)

_ADMISSION_LOCK = 0x6578_706F_7274  # any number that no other advisory lock of this database uses ("export")


def request_export(*, user: AbstractBaseUser, file_format: Format, selection: Selection, language: str) -> Export:
    """Accept an export and command it to be built. Takes the same few milliseconds whatever its size.

    Raises ExportForbidden, TooManyExports, QueueFull (the last two ExportRefused).
    """
    if not may(user, Right.ASK_FOR_EXPORT):
        raise ExportForbidden(Right.ASK_FOR_EXPORT)
    with transaction.atomic():
        _admit(user)
        export = Export.objects.create(
            requested_by_id=user.pk, format=file_format, selection=selection.stored(), language=language
        )
        publish(ExportRequested(export_id=export.pk))
    log.info("export_requested", export_id=str(export.pk), format=file_format.value)
    return export


def cancel_export(*, user: AbstractBaseUser, export_id: UUID) -> Export:
    """Cancel an export that waits or runs; one that is cancelled already stays so.

    Raises ExportNotFound, ExportForbidden, ExportNotActive.
    """
    export = visible_export(user, export_id)
    if export.requested_by_id != user.pk and not may(user, Right.CANCEL_EXPORT):
        raise ExportForbidden(Right.CANCEL_EXPORT)
    if Export.objects.cancel(export_id):
        log.info("export_cancelled", export_id=str(export_id))
    export.refresh_from_db()
    if export.state != ExportState.CANCELLED:
        raise ExportNotActive(export_id, export.state)
    return export


def repeat_export(*, user: AbstractBaseUser, export_id: UUID) -> Export:
    """Ask for the same again, as an export of its own, for the person who asks now.

    Raises ExportNotFound, ExportForbidden, ExportNotRepeatable, TooManyExports, QueueFull.
    """
    export = visible_export(user, export_id)
    if not may(user, Right.ASK_FOR_EXPORT):
        raise ExportForbidden(Right.ASK_FOR_EXPORT)
    if not export.is_repeatable:
        raise ExportNotRepeatable(export_id, export.state)
    return request_export(
        user=user,
        file_format=Format(export.format),
        selection=Selection.model_validate(export.selection),
        language=export.language,
    )


@transaction.atomic
def fail_undelivered(export_id: UUID, *, consumer: str) -> None:
    """End an export that still waits, when no message that commands it is under way to the consumer any more.

    One that runs or has ended is left alone: its builder knows better. So is one whose first command has died and that
    was taken up since, with a command of its own.
    """
    Export.objects.lock(export_id)
    commands = [step for step in progress_of(str(export_id)) if step.consumer == consumer]
    if all(command.is_settled for command in commands) and Export.objects.fail_waiting(export_id, Failure.UNDELIVERED):
        log.warning("export_failed", export_id=str(export_id), reason=Failure.UNDELIVERED.value)


def _admit(user: AbstractBaseUser) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_ADMISSION_LOCK])
    active = Export.objects.active()
    limit = settings.EXPORTS["MAX_ACTIVE_PER_PERSON"]
    if active.filter(requested_by=user.pk).count() >= limit:
        raise TooManyExports(limit)
    limit = settings.EXPORTS["MAX_ACTIVE"]
    if active.count() >= limit:
        raise QueueFull(limit)


def visible_export(user: AbstractBaseUser | AnonymousUser, export_id: UUID) -> Export:
    """Return an export that the person may see. Raises ExportNotFound."""
    export = Export.objects.visible_to(user).filter(pk=export_id).first()
    if export is None:
        raise ExportNotFound(export_id)
    return export
