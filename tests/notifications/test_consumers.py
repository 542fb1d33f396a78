"""The consumers of notifications without a broker: which failure is tried again, and which waits for a person."""

from collections.abc import Callable

import pytest
from baton_dev.testing.smtp_server import SmtpServer
from baton_messaging.testing import dead_letters, deliver

from inventory.events import StockReserved
from notifications.models import MailLog
from notifications.tasks import send_order_confirmed
from tests.notifications.factories import an_order

pytestmark = pytest.mark.django_db

StartServer = Callable[..., SmtpServer]


def test_a_message_that_comes_twice_is_one_mail(mail_server: StartServer) -> None:
    server = mail_server()
    deliver(StockReserved(order_id=an_order().order_id), to=send_order_confirmed, times=2)
    assert len(server.accepted) == 1


def test_a_refused_recipient_is_a_dead_letter_of_customer_care(mail_server: StartServer) -> None:
    server = mail_server()
    server.unknown_recipients.add("ada@example.org")
    outcome = deliver(StockReserved(order_id=an_order().order_id), to=send_order_confirmed, expect="dead")
    assert "MailRefused" in outcome.error
    (dead_letter,) = dead_letters(consumer="notifications.send_order_confirmed")
    assert dead_letter.owner.startswith("Customer care")


def test_a_server_that_is_away_is_tried_again_and_leaves_no_row(mail_to: Callable[[str], None]) -> None:
    mail_to("smtp://127.0.0.1:1")  # nothing listens there
    outcome = deliver(StockReserved(order_id=an_order().order_id), to=send_order_confirmed, expect="retrying")
    assert "MailUnavailable" in outcome.error
    assert not MailLog.objects.exists()
