"""The answer of exports to a port of notifications (``NOTIFICATIONS_EXPORT_DETAILS``): whom a mail goes to and of what.

It is asked at the moment of sending, so that events carry no personal data.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from baton_messaging.errors import PermanentError
from django.conf import settings

from orders.exports.models import Export


class UnknownExport(PermanentError):
    """No such export: its row has been forgotten since."""

    def __init__(self, export_id: UUID) -> None:
        super().__init__(f"Expected the id of an export, found none with {export_id}.")


@dataclass(frozen=True, slots=True)
class ExportDetails:
    """An export as its owner knows it. ``email`` is empty when there is nobody to write to."""

    export_id: UUID
    reference: str
    is_ready: bool
    name: str
    email: str
    language: str
    row_count: int
    format: str
    expires_at: datetime | None
    page_url: str

    def __repr__(self) -> str:
        return f"<ExportDetails {self.export_id}>"  # the generated one would put personal data into logs


def export_details(export_id: UUID) -> ExportDetails:
    """Look an export up. Raises UnknownExport, which is permanent."""
    export = Export.objects.select_related("requested_by").filter(pk=export_id).first()
    if export is None:
        raise UnknownExport(export_id)
    person = export.requested_by
    return ExportDetails(
        export_id=export.pk,
        reference=export.reference,
        is_ready=export.is_ready,
        name=(person.get_full_name() or person.get_username()) if person else "",
        email=person.email if person else "",
        language=export.language,
        row_count=export.rows_done,
        format=export.get_format_display(),
        expires_at=export.expires_at,
        page_url=settings.PUBLIC_URL.rstrip("/") + export.get_absolute_url(),
    )
