"""The collector as a process: what it keeps, and what it does twice."""

import json
import zlib
from typing import Any
from uuid import uuid4

import kombu
import pytest
from baton_dev.testing.deadlock import provoke_deadlock
from baton_dev.testing.processes import Process, wait_until
from baton_messaging.dead_letters.intake.raw_message import MAX_SHOWN_BYTES, read
from baton_messaging.dead_letters.intake.transfer import collect
from baton_messaging.messages.envelope import seal
from baton_messaging.models import DeadLetter, ProcessedMessage
from baton_messaging.models.dead_letter import COLLECTOR, Reason, State
from baton_messaging.routing.queues import dead_letter_queue
from celery import current_app

from tests.dead_letters.dead_letter_queue import DEAD, TASK, dead_letter_in_broker, publish, wait_for_letters
from tests.dead_letters.factories import an_envelope

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def test_each_message_of_a_bundle_is_a_row_of_its_own(collector: Process) -> None:
    envelopes = [an_envelope() for _ in range(5)]
    dead_letter_in_broker(*(seal(envelope, to=TASK) for envelope in envelopes), "forged")
    wait_for_letters(6)
    found = set(DeadLetter.objects.filter(reason=Reason.UNKNOWN_TASK).values_list("message_id", flat=True))
    assert found == {envelope.message_id for envelope in envelopes}
    assert DeadLetter.objects.get(reason=Reason.BAD_SIGNATURE).raw == "forged"


def test_what_another_copy_has_done_meanwhile_is_no_dead_letter(collector: Process) -> None:
    applied, other = an_envelope(), an_envelope()
    ProcessedMessage.objects.create(message_id=applied.message_id, consumer="sample.die")
    dead_letter_in_broker(seal(applied, to="sample.die"), seal(other, to="sample.die"), task="sample.die")
    wait_for_letters(1)
    assert DeadLetter.objects.get().message_id == other.message_id


def test_a_message_that_is_delivered_again_makes_no_second_row(collector: Process) -> None:
    """As after a collector that was killed between its commit and its ack."""
    publish_unacknowledged()
    wait_until(lambda: "arrival_known" in collector.output(), what="the second delivery")
    wait_for_letters(1)
    assert ProcessedMessage.objects.filter(consumer=COLLECTOR).count() == 1


def test_a_deadlock_changes_nothing_about_the_letter(collector: Process) -> None:
    death_count = provoke_deadlock(
        "baton_dead_letter", lambda: dead_letter_in_broker(seal(an_envelope(), to=TASK)), then="baton_inbox"
    )
    wait_until(lambda: "database_in_trouble" in collector.output(), what="the collector to lose")
    wait_for_letters(death_count)
    assert set(DeadLetter.objects.values_list("reason", flat=True)) == {Reason.UNKNOWN_TASK}


def publish_unacknowledged() -> None:
    """Collect a message in this process, and die before the ack."""
    collector_s_share = DeadLetter.objects.count()
    with current_app.connection_for_read() as broker:
        queue = dead_letter_queue().bind(broker.default_channel)
        taken: list[Any] = []
        with kombu.Consumer(broker.default_channel, [queue], on_message=taken.append, prefetch_count=1):
            while not taken:
                if DeadLetter.objects.count() > collector_s_share:
                    DeadLetter.objects.all().delete()  # the other collector was quicker: try again
                    ProcessedMessage.objects.all().delete()
                dead_letter_in_broker(seal(an_envelope(), to=TASK))
                for _ in range(20):
                    try:
                        broker.drain_events(timeout=0.1)
                    except TimeoutError:
                        continue
                    break
            collect(read(taken[0]))
    # closing the connection gives the message back


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("{broken", {}),
        (b"\xff\xfe\x00", {"content_encoding": "binary", "content_type": "application/octet-stream"}),
        ('{"__type__": "no such", "__value__": 1}', {}),
        ("[[[[1]]], {}, {}]", {}),
        ("null", {}),
        ('[["a NUL \\u0000 and a surrogate \\ud800"], {}, {}]', {}),
        ("[" * 100_000, {}),
        ("x", {"headers": {"x-death": "nonsense", "expires": 7, "task": ["list"], "id": {"a": 1}}}),
        ("x", {"headers": {"x-death": [{"queue": "sample"}], "task": "t\x00" * 300}}),
        ("", {}),
        (zlib.compress(b"0" * 200_000_000), {"headers": {"compression": "application/x-gzip", "task": "sample.die"}}),
        (f"[[{'[],' * 1_000_000}[]], {{}}, {{}}]", {}),
        ("[[" + "9" * 10_000 + "], {}, {}]", {}),
    ],
    ids=range(13),
)
def test_what_cannot_be_read_is_kept_as_it_came_and_blocks_nothing(
    body: Any, options: dict[str, Any], collector: Process
) -> None:
    headers = options.pop("headers", {"task": "sample.die", "id": str(uuid4())})
    publish(body, headers=headers, **options)
    dead_letter_in_broker(seal(an_envelope(), to=TASK))
    wait_for_letters(2)
    kept = DeadLetter.objects.get(envelope__isnull=True)
    assert kept.reason == Reason.UNDECODABLE
    if isinstance(body, str) and "\\u" not in body:
        assert json.loads(kept.raw)["body"] == body[:MAX_SHOWN_BYTES]
        assert json.loads(kept.raw)["body_bytes"] == len(body)
    assert collector.exit_code is None


@pytest.mark.parametrize("raw", ["no message", "x" * 20_000_000], ids=["no message", "too large"])
def test_what_is_no_message_at_all_is_kept_and_blocks_nothing(raw: str, collector: Process) -> None:
    """On Redis anything may lie in the list; RabbitMQ takes messages only."""
    with current_app.connection_for_write() as broker:
        broker.default_channel.client.lpush(DEAD, raw)
    dead_letter_in_broker(seal(an_envelope(), to=TASK))
    wait_for_letters(2)
    kept = DeadLetter.objects.get(envelope__isnull=True)
    assert (kept.reason, kept.owner) == (Reason.UNDECODABLE, "Platform team <platform@example.com>")
    assert len(kept.raw) < 50_000
    assert collector.exit_code is None


def test_a_body_that_the_transport_cannot_decode_is_kept_as_it_came(collector: Process) -> None:
    """Its encoding says base64, and it is none."""
    properties = {
        "body_encoding": "base64",
        "delivery_tag": "x",
        "delivery_info": {"exchange": "", "routing_key": DEAD},
    }
    headers = {"task": "sample.die", "id": str(uuid4())}
    message = {
        "body": "\u2603 no base64 \u2603",
        "headers": headers,
        "properties": properties,
        "content-type": "application/json",
    }
    with current_app.connection_for_write() as broker:
        channel: Any = broker.default_channel
        channel.client.lpush(DEAD, json.dumps(message))
        channel.notify(DEAD, channel.client)

    wait_for_letters(1)

    letter = DeadLetter.objects.get()
    assert (letter.reason, letter.consumer) == (Reason.UNDECODABLE, "sample.die")
    kept = json.loads(letter.raw)
    assert kept["body"] == message["body"]
    assert kept["content_type"] == "application/json"


def test_a_message_whose_replay_is_under_way_is_open_again_when_the_broker_gives_it_up(collector: Process) -> None:
    envelope = an_envelope()
    dead_letter_in_broker(seal(envelope, to="sample.die"), task="sample.die")
    wait_for_letters(1)
    DeadLetter.objects.update(state=State.REQUESTED)
    dead_letter_in_broker(seal(envelope, to="sample.die"), task="sample.die")
    wait_until(lambda: DeadLetter.objects.get().state == State.OPEN, what="an open letter")
    assert DeadLetter.objects.count() == 1
