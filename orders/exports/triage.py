"""What triage learns from exports: an export's row outlives its message, so what the row says counts."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final

from baton_messaging.extend.triage import MAX_CALLED, Subject, SubjectKind, Work, uuids_in
from django.utils.translation import gettext_lazy as _

from orders.events import ExportRequested
from orders.exports.models import Export
from orders.exports.states import ACTIVE, ExportState, Failure
from orders.reference import called

_CONSUMER = "orders.build_export"
_QUEUE = "orders.bulk"
_STORAGE = "exports"


def find_exports(keys: Collection[str]) -> dict[str, Subject]:
    """Return those of the keys that are exports."""
    return {str(export.pk): _subject(export) for export in Export.objects.filter(pk__any_of=uuids_in(keys))}


def exports_called(text: str) -> Iterable[str]:
    """Return the ids of the exports that people call so."""
    return [str(pk) for pk in called(Export.objects.order_by(), text).values_list("pk", flat=True)[:MAX_CALLED]]


def unsettled_exports(before: datetime, limit: int) -> Iterable[str]:
    """Return the ids of exports that wait or run, the oldest first."""
    found = Export.objects.filter(state__in=ACTIVE, created_at__lt=before).order_by("pk")
    return [str(pk) for pk in found.values_list("pk", flat=True)[:limit]]


def _work(export: Export) -> Work:
    match export.state:
        case ExportState.QUEUED:
            return Work("waiting")
        case ExportState.RUNNING:
            detail = f"{export.rows_done} / {export.rows_total or '?'}"
            return Work("running", detail, export.worker, export.started_at, export.lease_expires_at)
        case ExportState.FAILED:
            is_storage = export.failure == Failure.STORAGE
            detail = str(export.get_failure_display())
            return Work("failed", detail, export.worker, service=_STORAGE if is_storage else "")
        case _:
            return Work("done", str(export.get_state_display()))


def _subject(export: Export) -> Subject:
    return Subject(
        kind="export",
        key=str(export.pk),
        queue=_QUEUE,
        first_event=ExportRequested.event_name,
        created_at=export.created_at,
        is_settled=not export.is_active,
        status=export.get_state_display(),
        works={_CONSUMER: _work(export)},
    )


EXPORTS: Final = SubjectKind(
    name="export",
    label=_("export"),
    first_event=ExportRequested.event_name,
    queue=_QUEUE,
    find=find_exports,
    unsettled=unsettled_exports,
    called=exports_called,
)
