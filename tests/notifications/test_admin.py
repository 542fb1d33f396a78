"""The mail log over HTTP, as a browser uses it."""

from collections.abc import Callable

import pytest
from baton_dev.testing.smtp_server import SmtpServer
from django.test import Client
from django.urls import reverse

from notifications import services
from notifications.models import Kind, MailLog
from tests.notifications.factories import an_order

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(mail_server: Callable[..., SmtpServer]) -> MailLog:
    mail_server()
    services.send(order_id=an_order().order_id, kind=Kind.CONFIRMED)
    return MailLog.objects.get()


def test_the_log_is_listed_and_found_by_order(admin_client: Client, row: MailLog) -> None:
    url = reverse("admin:notifications_maillog_changelist")
    for term in (str(row.order_id), row.message_id):
        page = admin_client.get(url, {"q": term}).content.decode()
        assert str(row.order_id) in page
        assert "order confirmed" in page
    assert admin_client.get(url, {"q": "no such thing"}).status_code == 200


def test_the_log_cannot_be_changed(admin_client: Client, row: MailLog) -> None:
    change, delete = (reverse(f"admin:notifications_maillog_{what}", args=[row.pk]) for what in ("change", "delete"))
    assert row.message_id.strip("<>") in admin_client.get(change).content.decode()
    assert admin_client.post(change, {"kind": "received"}).status_code == 403
    assert admin_client.post(delete, {"post": "yes"}).status_code == 403
    assert admin_client.get(reverse("admin:notifications_maillog_add")).status_code == 403
    assert MailLog.objects.get().kind == "confirmed"
