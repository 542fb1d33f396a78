from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from baton_dev.testing.smtp_server import SmtpServer
from django.db import IntegrityError, connection, transaction

from notifications import services
from notifications.errors import MailRefused, MailUnavailable
from notifications.letters import message_id
from notifications.models import Kind, MailLog, Outcome
from tests.notifications.factories import KNOWN, ORDER_KINDS, an_order

StartServer = Callable[..., SmtpServer]


@pytest.mark.django_db
def test_a_mail_is_sent_and_logged(mail_server: StartServer) -> None:
    server = mail_server()
    order = an_order(language="ja")
    services.send(order_id=order.order_id, kind=Kind.RECEIVED)
    row = MailLog.objects.get()
    assert (row.order_id, row.kind, row.outcome, row.language) == (order.order_id, "received", "sent", "ja")
    assert row.message_id == message_id(order.order_id, Kind.RECEIVED) == server.accepted[0].header("Message-ID")


@pytest.mark.django_db
def test_the_log_holds_no_address_and_no_name(mail_server: StartServer, caplog: pytest.LogCaptureFixture) -> None:
    mail_server()
    services.send(order_id=an_order().order_id, kind=Kind.RECEIVED)
    kept = repr(MailLog.objects.values().get()) + caplog.text
    assert not any(part in kept for part in ("Ada", "Lovelace", "ada@"))  # an id may hold "ada"
    assert "mail_handled" in kept


@pytest.mark.django_db
def test_sending_again_sends_nothing(mail_server: StartServer) -> None:
    server = mail_server()
    order = an_order()
    for _ in range(3):
        services.send(order_id=order.order_id, kind=Kind.RECEIVED)
    assert len(server.accepted) == 1


@pytest.mark.django_db
def test_each_kind_is_a_mail_of_its_own(mail_server: StartServer) -> None:
    server = mail_server()
    order = an_order()
    for kind in ORDER_KINDS:
        services.send(order_id=order.order_id, kind=kind)
    assert {mail.header("X-Mail-Kind") for mail in server.accepted} == {kind.value for kind in ORDER_KINDS}
    assert len({mail.header("Message-ID") for mail in server.accepted}) == len(ORDER_KINDS)


@pytest.mark.django_db(transaction=True)
def test_twenty_sends_at_once_send_one_mail(mail_server: StartServer) -> None:
    server = mail_server()
    order = an_order()

    def send() -> None:
        try:
            services.send(order_id=order.order_id, kind=Kind.CONFIRMED)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        for future in [pool.submit(send) for _ in range(20)]:
            future.result(timeout=30)
    assert len(server.accepted) == 1
    assert MailLog.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("replies", "error"), [({"RCPT": "550 no"}, MailRefused), ({"RCPT": "451 later"}, MailUnavailable)], ids=str
)
def test_a_mail_that_failed_leaves_no_log_and_can_be_sent_later(
    mail_server: StartServer, replies: dict[str, str], error: type[Exception]
) -> None:
    server = mail_server(**replies)
    order = an_order()
    with pytest.raises(error):
        services.send(order_id=order.order_id, kind=Kind.RECEIVED)
    assert not MailLog.objects.exists()
    server.replies.clear()
    services.send(order_id=order.order_id, kind=Kind.RECEIVED)
    assert len(server.accepted) == 1


@pytest.mark.django_db
def test_one_refused_recipient_harms_no_other(mail_server: StartServer) -> None:
    server = mail_server()
    bad, good = an_order(customer_email="not an address"), an_order()
    with pytest.raises(MailRefused):
        services.send(order_id=bad.order_id, kind=Kind.RECEIVED)
    services.send(order_id=good.order_id, kind=Kind.RECEIVED)
    assert [mail.header("X-Mail-About") for mail in server.accepted] == [str(good.order_id)]


@pytest.mark.django_db
def test_a_mail_that_was_taken_but_not_committed_goes_out_again_with_the_same_message_id(
    mail_server: StartServer,
) -> None:
    server = mail_server()
    order = an_order()
    with transaction.atomic():
        services.send(order_id=order.order_id, kind=Kind.RECEIVED)
        transaction.set_rollback(True)
    services.send(order_id=order.order_id, kind=Kind.RECEIVED)
    assert len(server.accepted) == 2
    assert len({mail.header("Message-ID") for mail in server.accepted}) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("kind", [Kind.CONFIRMED, Kind.REJECTED])
def test_the_outcome_of_a_cancelled_order_is_not_mailed(mail_server: StartServer, kind: Kind) -> None:
    server = mail_server()
    order = an_order(status="cancelled")
    services.send(order_id=order.order_id, kind=kind)
    assert not server.accepted
    assert MailLog.objects.get().outcome == Outcome.WITHHELD
    KNOWN[order.order_id] = replace(order, status="accepted")
    services.send(order_id=order.order_id, kind=kind)
    assert not server.accepted


@pytest.mark.django_db
@pytest.mark.parametrize("kind", [Kind.RECEIVED, Kind.CANCELLED])
def test_a_cancelled_order_is_acknowledged_and_its_cancelling_too(mail_server: StartServer, kind: Kind) -> None:
    server = mail_server()
    services.send(order_id=an_order(status="cancelled").order_id, kind=kind)
    assert len(server.accepted) == 1


@pytest.mark.django_db
def test_newlines_in_names_neither_break_nor_delay_the_mail(mail_server: StartServer) -> None:
    server = mail_server()
    order = an_order(customer_name="Ada\r\nBcc: x@example.com", reference="1\n2")
    services.send(order_id=order.order_id, kind=Kind.RECEIVED)
    (mail,) = server.accepted
    assert mail.header("Subject") == "We have received your order 1 2"
    assert mail.recipients == ("ada@example.org",)


@pytest.mark.django_db
def test_the_database_refuses_a_second_row_an_unknown_kind_and_an_unknown_outcome(mail_server: StartServer) -> None:
    mail_server()
    order = an_order()
    services.send(order_id=order.order_id, kind=Kind.RECEIVED)
    services.send(order_id=order.order_id, kind=Kind.CONFIRMED)
    log = MailLog.objects.filter(kind=Kind.RECEIVED)
    changes: dict[str, dict[str, str]] = {
        "mail_once_per_order_and_kind": {"kind": Kind.CONFIRMED},
        "mail_kind_known": {"kind": "spam"},
        "mail_outcome_known": {"outcome": "maybe"},
    }
    for constraint, change in changes.items():
        with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
            log.update(**change)


@pytest.mark.django_db
def test_the_newest_mails_are_found_by_an_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "mail_newest_first" in MailLog.objects.all()[:100].explain()
