"""A row that Python cannot decode is one dead letter; the others of its claim leave at once."""

from datetime import timedelta
from uuid import UUID, uuid4

import kombu
import pytest
from baton_messaging.broker.inspect.depth import Depth
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import RELAY, Reason
from baton_messaging.publish import publish
from baton_messaging.recovery.loss_rule import QueueState
from baton_messaging.recovery.losses import losses_of
from baton_messaging.recovery.resend import send_again
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.relaying.retry_round import send_retries
from django.db import connection, transaction
from django.utils import timezone

from tests.relaying.outbox_and_queue import bundles, place
from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]

UNREADABLE = {
    "nested": "[" * 3_000 + "]" * 3_000,
    "nested just less": '{"a": ' + "[" * 980 + "]" * 980 + "}",
    "digits": '{"n": ' + "9" * 5_001 + "}",
}
unreadable = pytest.mark.parametrize("payload", UNREADABLE.values(), ids=UNREADABLE)


def overwrite(table: str, column: str, value: str, message_id: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET {column} = %s::jsonb WHERE message_id = %s",
            [value, message_id],
        )


@unreadable
def test_of_the_outbox_one_becomes_a_dead_letter_and_ten_leave(payload: str, producer: kombu.Producer) -> None:
    with transaction.atomic():
        (bad_id,) = publish(Sampled(sample_id=(key := uuid4())))
    overwrite("baton_outbox", "payload", payload, bad_id)
    place(10)
    assert send_outbox(producer) == 11
    assert sum(map(len, bundles())) == 10
    assert not OutboxMessage.objects.waiting().exists()
    letter = DeadLetter.objects.get()
    assert (letter.reason, letter.consumer, letter.message_id) == (Reason.UNDECODABLE, RELAY, bad_id)
    assert (letter.owner, letter.key) == ("Platform team <platform@example.com>", str(key))
    assert send_outbox(producer) == 0


@unreadable
def test_of_the_retries_one_becomes_a_dead_letter_and_the_others_leave(payload: str, producer: kombu.Producer) -> None:
    place(3)
    for row in OutboxMessage.objects.all():
        Attempt.objects.create(
            message_id=row.message_id,
            consumer="sample.take_one",
            attempt=1,
            key=row.key,
            envelope=row.envelope().as_dict(),
            error_class="E",
            due_at=timezone.now(),
        )
    bad = Attempt.objects.earliest("pk")
    overwrite("baton_attempt", "envelope", f'{{"payload": {payload}}}', bad.message_id)
    send_retries(producer)
    assert sum(map(len, bundles())) == 2
    assert not Attempt.objects.filter(sent_at=None).exists()
    letter = DeadLetter.objects.get()
    assert (letter.reason, letter.consumer, letter.key) == (Reason.UNDECODABLE, "sample.take_one", bad.key)


@unreadable
def test_what_the_reconciler_sends_again_and_cannot_be_read_becomes_a_dead_letter(
    payload: str, producer: kombu.Producer
) -> None:
    with transaction.atomic():
        (bad_id,) = publish(Sampled(sample_id=uuid4()))
    OutboxMessage.objects.update(published_at=timezone.now() - timedelta(hours=1), sent_to=["sample.take_one"])
    overwrite("baton_outbox", "payload", payload, bad_id)
    state = QueueState("sample", Depth(0, 0), timezone.now(), None, True, 0)
    lost = losses_of("sample.take_one", state, in_flight=(), limit=10)
    assert send_again("sample.take_one", lost) == 1
    send_retries(producer)
    letter = DeadLetter.objects.get()
    assert (letter.reason, letter.consumer, letter.message_id) == (Reason.UNDECODABLE, "sample.take_one", bad_id)
    assert losses_of("sample.take_one", state, in_flight=(), limit=10) == []
