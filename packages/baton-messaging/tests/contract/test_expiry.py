"""What a sender lets expire is dropped and counted on both brokers; what a consumer loses by it is a dead letter."""

from collections.abc import Iterator
from typing import Any

import pytest
from baton_dev.testing.rabbitmq import RabbitMQ, skip_without_rabbitmq
from baton_messaging.dead_letters.intake.raw_message import read
from baton_messaging.dead_letters.intake.transfer import collect
from baton_messaging.messages.envelope import seal
from baton_messaging.models import DeadLetter, Expiry
from baton_messaging.models.dead_letter import Reason

from tests.contract.brokers import Broker, make_broker
from tests.dead_letters.factories import CONSUMER, an_envelope

pytestmark = pytest.mark.django_db(transaction=True)

TICK = "baton.prune"
POLICY = "expire_all"


@pytest.fixture
def on_rabbitmq(request: pytest.FixtureRequest) -> Broker:
    skip_without_rabbitmq()
    broker = make_broker(request.getfixturevalue("rabbitmq"))
    broker.empty()
    return broker


@pytest.fixture
def policy(on_rabbitmq: Broker) -> Iterator[None]:
    """Let a policy of the broker end each message after half a second."""
    node = on_rabbitmq.service
    assert isinstance(node, RabbitMQ)
    node.evaluate(
        f'rabbit_policy:set(<<"/">>, <<"{POLICY}">>, <<"^contract$">>, [{{<<"message-ttl">>, 500}}], 0, '
        '<<"queues">>, <<"test">>)'
    )
    yield
    node.evaluate(f'rabbit_policy:delete(<<"/">>, <<"{POLICY}">>, <<"test">>)')


def collect_dead(broker: Broker, task_id: str) -> None:
    collect(read(broker.dead_letter(task_id)))


@pytest.mark.parametrize(("task", "counted_as"), [(TICK, TICK), ("forged.name", "(unknown)")])
def test_ticks_that_rabbitmq_lets_expire_are_counted_and_no_dead_letters(
    on_rabbitmq: Broker, task: str, counted_as: str
) -> None:
    for _ in range(3):
        collect_dead(on_rabbitmq, on_rabbitmq.send(task, expires=0.5))

    assert not DeadLetter.objects.exists()
    assert list(Expiry.objects.values_list("task", "message_count")) == [(counted_as, 3)]


def test_a_tick_that_was_counted_is_not_counted_again(on_rabbitmq: Broker) -> None:
    arrival = read(on_rabbitmq.dead_letter(on_rabbitmq.send(TICK, expires=0.5)))
    for _ in range(2):  # its collector was killed between commit and ack
        collect(arrival)
    assert Expiry.objects.get().message_count == 1


def test_a_consumers_message_that_expires_is_a_dead_letter(on_rabbitmq: Broker) -> None:
    envelope = an_envelope()
    collect_dead(on_rabbitmq, on_rabbitmq.send(CONSUMER, [seal(envelope, to=CONSUMER)], expires=0.5))
    assert DeadLetter.objects.get().reason == Reason.EXPIRED
    assert not Expiry.objects.exists()


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("options", [{}, {"expires": 3600}], ids=["without expires", "before its time"])
def test_what_only_a_policy_lets_expire_is_a_dead_letter(on_rabbitmq: Broker, options: dict[str, Any]) -> None:
    collect_dead(on_rabbitmq, on_rabbitmq.send(TICK, **options))
    assert DeadLetter.objects.get().reason == Reason.EXPIRED
    assert not Expiry.objects.exists()
