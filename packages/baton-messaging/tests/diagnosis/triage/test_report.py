"""Triage over real tables and a real broker: what is asked for is found, and what cannot be reached is said in time."""

import json
import shlex
import socket
from base64 import b64encode
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from uuid import UUID, uuid4

import kombu
import pytest
from baton_dev.testing.deadline import within
from baton_dev.testing.failover import READ_ONLY, new_connections
from baton_messaging.audit.actors import Actor
from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.diagnosis.triage.gather.rows import _refusal
from baton_messaging.diagnosis.triage.lookup import BadId
from baton_messaging.diagnosis.triage.report import Answer, triage, triage_or_outage
from baton_messaging.diagnosis.triage.stuck import survey_or_outage
from baton_messaging.flow_control.pauses import Target, pause
from baton_messaging.models import DeadLetter, Heartbeat, OutboxMessage, Pause, ProcessedMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.models.heartbeat import Trouble
from baton_messaging.publish import publish
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.routing.ownership import queue_name_of
from celery import current_app
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]
CONSUMER = "sample.take_one"


@pytest.fixture
def key() -> str:
    return str(uuid4())


def place(key: str, *, count: int = 1) -> list[UUID]:
    with transaction.atomic():
        return publish(*(Sampled(sample_id=UUID(key)) for _ in range(count)))


def relay() -> None:
    with current_app.connection_for_write() as broker:
        send_outbox(current_app.amqp.Producer(broker, auto_declare=False))


def beat(role: str, *, queues: tuple[str, ...] = ()) -> None:
    now = timezone.now()
    Heartbeat.objects.create(
        name=f"{role}@test",
        role=role,
        hostname="test",
        pid=1,
        started_at=now,
        queues=list(queues),
        is_consuming=True,
    )


def only(text: str) -> Answer:
    (answer,) = triage(text).verdicts
    return answer


def test_a_message_is_followed_from_the_outbox_to_the_inbox(key: str) -> None:
    (message_id,) = place(key)
    assert only(key).state_text == "relay stalled (no relay lives)"
    beat("relay")
    assert only(key).state_text == "waiting for the relay (0 before it)"
    relay()
    assert only(key).state_text == "nobody consumes the queue (no worker)"
    beat("worker", queues=("sample",))
    assert only(key).state_text == "queued (0 before it)"
    holding = [{"consumer": CONSUMER, "message_ids": [str(message_id)], "started_at": timezone.now().isoformat()}]
    Heartbeat.objects.filter(role="worker").update(running=holding)
    assert only(key).state_text == "running (on worker@test)"
    ProcessedMessage.objects.claim(consumer=CONSUMER, message_ids=[message_id], worker="worker@test")
    assert only(key).state == "done"
    assert only(str(message_id)).state == "done"


def test_a_relay_that_finds_the_broker_full_is_not_to_blame(key: str) -> None:
    place(key)
    beat("relay")
    Heartbeat.objects.update(is_consuming=False, trouble=Trouble.BROKER_FULL)
    answer = only(key)
    assert answer.state_text == "relay stalled (the broker is full)"
    assert "the broker is short of memory or disk: it takes no message" in answer.evidence
    Heartbeat.objects.update(beaten_at=timezone.now() - timedelta(minutes=1))
    assert only(key).state_text == "relay stalled (no relay lives)"


def test_the_position_counts_what_came_before() -> None:
    keys = [str(uuid4()) for _ in range(3)]
    beat("worker", queues=("sample",))
    for key in keys:
        place(key)
        relay()
    assert [only(key).evidence[1] for key in keys] == [f"queue sample has {count} before it" for count in range(3)]


def test_a_message_that_the_broker_lost_is_told_as_lost(key: str) -> None:
    place(key)
    relay()
    OutboxMessage.objects.update(published_at=timezone.now() - timedelta(seconds=9))
    with current_app.connection_for_write() as broker:
        kombu.Queue("sample")(broker.default_channel).purge()
    assert only(key).state_text == "lost by the broker, will be sent again (but no beat runs)"
    beat("beat")
    assert only(key).owner == "Platform team <platform@example.com>"


def test_a_dead_letter_is_asked_for_by_its_number(key: str) -> None:
    dead_letter = DeadLetter.objects.create(
        consumer="sample.die", owner="", reason=Reason.BAD_SIGNATURE, raw="x", fingerprint=""
    )
    answer = only(str(dead_letter.pk))
    assert answer.state_text == "dead (bad signature)"
    assert answer.next_step.url.endswith(f"/{dead_letter.pk}/change/")


def test_an_id_that_nobody_knows_was_not_published() -> None:
    report = triage(str(uuid4()))
    assert (report.is_unheard_of, report.verdicts[0].state) == (True, "not published")


@pytest.mark.parametrize("text", ["", "x", "1.5", "0190d3c2", "9" * 30, "４２x"])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(BadId, match="of which nothing is known"):
        triage(text)


def test_the_number_of_queries_does_not_grow_with_the_messages(key: str, django_assert_num_queries: object) -> None:
    place(key, count=40)
    with django_assert_num_queries(16):  # type: ignore[operator]
        assert len(triage(key).verdicts) == 40


@pytest.fixture
def silence() -> Iterator[int]:
    """Listen and never answer, as a stopped server does; return the port."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("url", ["redis://127.0.0.1:{}/0", "amqp://guest:guest@127.0.0.1:{}//"])
def test_a_broker_that_does_not_answer_leaves_one_question_open_for_two_seconds_at_most(
    key: str, silence: int, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(key)
    relay()
    monkeypatch.setattr(current_app.conf, "broker_read_url", url.format(silence))
    answer = within(lambda: only(key), seconds=2)
    # With its address where the look at the servers had the time to accuse it.
    assert answer.state_text.startswith("not known (the broker does not answer")
    told = [text.partition(" ")[0] for text in answer.evidence]
    assert told.count("published") == 1
    assert any(text.startswith("the broker does not answer") for text in answer.evidence)
    assert answer.open_questions[0].startswith("Is it in the queue")


def test_a_database_that_does_not_answer_leaves_the_brokers_questions(
    key: str, silence: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(key)
    relay()
    monkeypatch.setitem(connection.settings_dict, "PORT", str(silence))
    report = within(lambda: triage_or_outage(key), seconds=2)
    (answer,) = report.verdicts
    assert answer.state_text.startswith("not known (the database does not answer")
    assert answer.confidence == "not known"
    assert "queue sample holds 1" in answer.evidence
    assert len(answer.open_questions) == 5


@pytest.mark.usefixtures("longer_deadlines")
def test_a_database_that_takes_no_writes_is_to_blame_and_not_the_processes_that_cannot_beat(key: str) -> None:
    place(key)
    relay()
    with new_connections(READ_ONLY):
        (answer,) = triage_or_outage(key).verdicts
        assert survey_or_outage().as_dict()["needs_person"] is True
    assert answer.state_text.startswith("queued (the database takes no writes (")
    assert answer.evidence[0].startswith("the database takes no writes (")
    assert "default_transaction_read_only" in answer.next_step.command
    assert answer.owner.startswith("Platform team")


def test_a_table_that_a_migration_holds_is_reported_and_not_waited_for(key: str) -> None:
    with dedicated_connection() as migration, migration.cursor() as cursor:
        cursor.execute("BEGIN; LOCK TABLE baton_outbox IN ACCESS EXCLUSIVE MODE")
        for ask in (triage, triage_or_outage):
            (answer,) = within(partial(ask, key), seconds=2).verdicts
            assert (answer.state, answer.needs_person) == ("not known", True)
            assert answer.state_text == "not known (table baton_outbox is locked)"
            assert "SELECT pg_terminate_backend" in answer.next_step.command
        assert within(survey_or_outage, seconds=2).as_dict()["needs_person"] is True
        cursor.execute("ROLLBACK")


@pytest.mark.usefixtures("longer_deadlines")
def test_a_column_that_is_not_there_is_another_release(key: str) -> None:
    with dedicated_connection() as migration, migration.cursor() as cursor:
        cursor.execute("ALTER TABLE baton_inbox RENAME COLUMN duration_ms TO took_ms")
        try:
            (answer,) = triage(key).verdicts
            assert survey_or_outage().as_dict()["needs_person"] is True
        finally:
            cursor.execute("ALTER TABLE baton_inbox RENAME COLUMN took_ms TO duration_ms")
    assert answer.state_text.startswith("not known (the database has other tables than this release (")
    assert answer.next_step.command == "python manage.py migrate"


def test_the_words_that_end_a_pause_can_be_typed_whatever_the_key_is() -> None:
    with transaction.atomic():
        (message_id,) = publish(Sampled(sample_id=uuid4()))
    OutboxMessage.objects.update(key="--a b; rm -rf $HOME")
    beat("relay")
    target = Target(event_name=Sampled.event_name, key="--a b; rm -rf $HOME")
    pause(target, actor=Actor.of_shell(), why="x")
    (answer,) = triage(str(message_id)).verdicts
    assert answer.state == "held"
    words = shlex.split(answer.next_step.command)[2:]
    call_command(*words)
    assert not Pause.objects.in_force().exists()


def test_a_refusal_is_told_of_the_consumer_that_was_refused() -> None:
    noted = "subparcels.build: queue full: a; parcels.build: queue full: b; parcels.bill: c"
    assert _refusal(noted, "parcels.build") == "queue full: b"
    assert _refusal("subparcels.build: queue full: a", "parcels.build") == ""


def test_a_header_that_somebody_made_up_hides_nothing_else(key: str) -> None:
    (message_id,) = place(key)
    body = b64encode(f'{{"message_id": "{message_id}"}}'.encode()).decode()
    forged = {"body": body, "headers": {"task": CONSUMER, "x-delivery-count": "many"}, "properties": {}}
    with current_app.connection_for_write() as broker, broker.default_channel.conn_or_acquire() as client:
        client.lpush(queue_name_of(CONSUMER), json.dumps(forged))
    assert "the broker does not answer" not in " ".join(only(key).evidence)
