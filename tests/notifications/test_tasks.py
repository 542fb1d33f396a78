"""The consumers in real processes: relay, worker, and a mail server on a socket."""

import os
import signal
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from baton_dev.testing.processes import Process, wait_until, worker_command
from baton_dev.testing.smtp_server import SmtpServer, smtp_server
from baton_messaging.models import Attempt, OutboxMessage, ProcessedMessage
from baton_messaging.testing import DeathReason, dead_letters
from celery import current_app

from inventory.models import Reservation, StockItem
from notifications.models import MailLog
from orders import services
from orders.models import Order, Product
from orders.requests import OrderRequest, RequestedLine

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("relay", "_shop")]

StartWorker = Callable[[SmtpServer], Process]


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[StartWorker]:
    """Return a function that starts a worker for the sample apps, whose mail goes to a server."""
    started: list[Process] = []

    def start(server: SmtpServer) -> Process:
        command = worker_command("orders", "inventory", "notifications")
        process = Process(command, log=tmp_path / "worker.log", env={"EMAIL_URL": server.url})
        started.append(process)
        process.wait_for_output(" ready.")
        return process

    yield start
    for process in started:
        process.stop()


@pytest.fixture
def _shop(transactional_db: None) -> None:
    Product.objects.create(sku="MUG", name="Mug", name_ja="マグカップ", price=Decimal("12.50"))
    StockItem.objects.create(sku="MUG", on_hand=5)


def place(email: str = "ada@example.org", *, quantity: int = 1, language: str = "en") -> Order:
    lines = (RequestedLine("MUG", quantity),)
    return services.place_order(OrderRequest("Ada Lovelace", email, language=language, note="", lines=lines))


def mails_to(server: SmtpServer, order: Order) -> set[tuple[str, str]]:
    """Kind and subject of each mail about the order."""
    mails = [mail for mail in server.accepted if mail.header("X-Mail-About") == str(order.pk)]
    return {(mail.header("X-Mail-Kind"), mail.header("Subject")) for mail in mails}


def test_each_step_of_an_order_is_mailed_in_the_customers_language(start_worker: StartWorker) -> None:
    with smtp_server() as server:
        start_worker(server)
        good, short = place(language="ja"), place(quantity=9)
        wait_until(lambda: len(server.accepted) == 4, what="four mails")
    assert mails_to(server, good) == {
        ("received", f"ご注文 {good.reference} を受け付けました"),
        ("confirmed", f"ご注文 {good.reference} が確定しました"),
    }
    assert mails_to(server, short) == {
        ("received", f"We have received your order {short.reference}"),
        ("rejected", f"We cannot fulfil your order {short.reference}"),
    }
    assert all(mail.header("X-Correlation-ID") != "None" for mail in server.accepted)


def test_a_refused_recipient_dies_at_once_and_harms_no_other(start_worker: StartWorker) -> None:
    with smtp_server() as server:
        server.unknown_recipients.add("gone@example.org")
        start_worker(server)
        bad, good = place("gone@example.org"), place()
        wait_until(lambda: len(mails_to(server, good)) == 2, what="the other order's mails")
        wait_until(lambda: len(dead_letters(key=bad.pk)) == 2, what="two dead letters")
    letter, _other = dead_letters(key=bad.pk)
    assert (letter.reason, letter.attempt_count) == (DeathReason.PERMANENT_ERROR, 1)
    assert letter.owner.startswith("Customer care")
    assert "gone@" not in letter.error_message + letter.traceback
    assert Reservation.objects.get(pk=bad.pk).state == Reservation.State.RESERVED


def test_a_silent_mail_server_is_retried_and_holds_up_no_order(start_worker: StartWorker) -> None:
    with smtp_server(EHLO="silence") as server:
        start_worker(server)
        order = place()
        wait_until(lambda: Attempt.objects.filter(key=order.pk, consumer__startswith="notifications").exists())
        wait_until(lambda: Order.objects.get(pk=order.pk).status == "confirmed", what="a confirmed order")
        server.replies.clear()
        wait_until(lambda: len(mails_to(server, order)) == 2, what="the mails, by retry")
    attempt = Attempt.objects.filter(key=order.pk).first()
    assert attempt is not None
    assert attempt.error_class == "notifications.errors.MailUnavailable"
    assert dead_letters() == []


def test_a_worker_killed_after_the_mail_was_taken_sends_the_same_message_id_again(start_worker: StartWorker) -> None:
    children: list[int] = []

    def kill_once() -> None:
        while children:
            os.kill(children.pop(), signal.SIGKILL)

    with smtp_server(on_mail=kill_once) as server:
        start_worker(server)
        children.extend(_children_of_the_worker())
        order = place()
        wait_until(lambda: MailLog.objects.filter(order_id=order.pk).count() == 2, seconds=60, what="both log rows")
    message_ids = [mail.header("Message-ID") for mail in server.accepted]
    assert len(set(message_ids)) == 2
    assert len(message_ids) >= 3
    assert dead_letters() == []


def test_a_cancelled_order_gets_its_stock_back_and_a_mail(start_worker: StartWorker) -> None:
    order = place()
    services.cancel_order(order.pk)
    with smtp_server() as server:
        start_worker(server)
        wait_until(lambda: ("cancelled", f"Your order {order.reference} is cancelled") in mails_to(server, order))
        wait_until(lambda: Reservation.objects.filter(pk=order.pk, state="released").exists(), what="the release")
        wait_until(_queues_are_empty, what="empty queues")
    assert StockItem.objects.get().reserved == 0
    assert "confirmed" not in {kind for kind, _subject in mails_to(server, order)}


def _children_of_the_worker() -> list[int]:
    answers = current_app.control.inspect(timeout=30, limit=1).stats()
    assert answers, "the worker did not answer"
    (stats,) = answers.values()
    return list(stats["pool"]["processes"])


def _queues_are_empty() -> bool:
    if OutboxMessage.objects.waiting().exists():
        return False
    expected = sum(len(message.sent_to) for message in OutboxMessage.objects.all())
    return ProcessedMessage.objects.count() >= expected
