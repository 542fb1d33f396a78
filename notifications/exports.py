"""The mails about an export, that it is ready and that it expires, go to the person who asked for it.

They link to its page and never to the file: the page asks who wants the file, and a link to the file itself would be a
key that travels in mails. As with orders, whom to write to is asked for at the moment of sending, by a port
(``settings.NOTIFICATIONS_EXPORT_DETAILS``), and the mail log lets one mail of a kind out per export (see ``services``
for the ways to a second copy).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from uuid import UUID

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.module_loading import import_string

from notifications.delivery import deliver
from notifications.letters import message_id, one_line
from notifications.models import Kind, MailLog, Outcome

log = structlog.get_logger(__name__)

_TEMPLATES = "notifications/mail"
_MAX_SUBJECT_CHARACTERS = 200


@dataclass(frozen=True)
class ExportDetails:
    """*Shape*: what the port returns; ``email`` is empty when there is nobody to write to."""

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


def export_details(export_id: UUID) -> ExportDetails:
    """Ask the app that has the exports. Raises what that app raises for an unknown id."""
    answer = cast("Callable[[UUID], ExportDetails]", import_string(settings.NOTIFICATIONS_EXPORT_DETAILS))
    return answer(export_id)


@transaction.atomic
def send(export_id: UUID, kind: Kind) -> None:
    """Send the mail unless it was sent before; withhold it when the file is gone already or nobody has an address.

    Raises MailRefused, MailUnavailable; the log row goes with the transaction then.
    """
    export = export_details(export_id)
    outcome = Outcome.SENT if export.is_ready and export.email else Outcome.WITHHELD
    is_new = MailLog.objects.claim(
        order_id=export_id,
        kind=kind,
        outcome=outcome,
        language=export.language,
        message_id=message_id(export_id, kind),
    )
    if is_new and outcome == Outcome.SENT:
        deliver(compose(export, kind))
    log.info("mail_handled", export_id=str(export_id), outcome=outcome.value if is_new else "repeated")


def compose(export: ExportDetails, kind: Kind) -> EmailMultiAlternatives:
    """Write the letter, as text and as HTML, in the export's language."""
    with translation.override(export.language):
        context = {
            "export": export,
            "name": one_line(export.name, _MAX_SUBJECT_CHARACTERS),
            "language": export.language,
        }
        subject = one_line(render_to_string(f"{_TEMPLATES}/{kind.value}/subject.txt", context), _MAX_SUBJECT_CHARACTERS)
        letter = EmailMultiAlternatives(
            subject=subject,
            body=render_to_string(f"{_TEMPLATES}/{kind.value}/body.txt", context),
            to=[export.email],
            headers={
                "Message-ID": message_id(export.export_id, kind),
                "Auto-Submitted": "auto-generated",  # RFC 3834: keeps absence notices from answering
                "Content-Language": export.language,
                "X-Mail-About": str(export.export_id),
                "X-Mail-Kind": kind.value,
            },
        )
        html = render_to_string(f"{_TEMPLATES}/{kind.value}/body.html", {**context, "subject": subject})
        letter.attach_alternative(html, "text/html")
    return letter
