"""The mail that an export is ready."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.utils import timezone

from notifications import exports
from notifications.models import Kind, MailLog, Outcome
from orders.exports.models import Export
from orders.exports.states import ExportState, Format

pytestmark = pytest.mark.django_db


def a_ready_export(**changes: Any) -> Export:
    person = User.objects.create_user(
        "ann", changes.pop("email", "ann@example.com"), first_name="Ann\nBcc: x@example.com"
    )
    return Export.objects.create(
        **{
            "requested_by": person,
            "format": Format.CSV,
            "language": "en",
            "state": ExportState.READY,
            "rows_done": 1_234,
            "rows_total": 1_234,
            "size_bytes": 1,
            "file_name": "secret-file-name.csv",
            "finished_at": timezone.now(),
            "expires_at": timezone.now(),
            **changes,
        }
    )


def test_the_mail_links_to_the_page_and_not_to_the_file(settings: Any) -> None:
    settings.PUBLIC_URL = "https://shop.example.com/"
    export = a_ready_export()
    exports.send(export.pk, Kind.EXPORT_READY)
    letter = mail.outbox[0]
    assert isinstance(letter, mail.EmailMultiAlternatives)
    html = letter.alternatives[0][0]
    assert letter.to == ["ann@example.com"]
    assert letter.subject == f"Your export {export.reference} is ready"
    for text in (str(letter.body), str(html)):
        assert f"https://shop.example.com/exports/{export.pk}/" in text
        assert "secret-file-name" not in text
        assert "download" not in text
        assert "1,234 rows" in text
    assert "\nBcc:" not in str(letter.body)


def test_it_is_written_in_the_language_of_the_export() -> None:
    export = a_ready_export(language="ja")
    exports.send(export.pk, Kind.EXPORT_READY)
    assert mail.outbox[0].subject == f"エクスポート {export.reference} ができました"


def test_it_goes_out_once_however_often_the_message_comes() -> None:
    export = a_ready_export()
    exports.send(export.pk, Kind.EXPORT_READY)
    exports.send(export.pk, Kind.EXPORT_READY)
    assert len(mail.outbox) == 1
    assert MailLog.objects.get().outcome == Outcome.SENT


@pytest.mark.parametrize("changes", [{"email": ""}, {"state": ExportState.EXPIRED}, {"requested_by": None}])
def test_it_is_withheld_when_there_is_nobody_to_write_to_or_nothing_to_fetch(changes: dict[str, Any]) -> None:
    export = a_ready_export(**changes)
    exports.send(export.pk, Kind.EXPORT_READY)
    assert mail.outbox == []
    assert MailLog.objects.get().outcome == Outcome.WITHHELD
