"""Where the broker does not tell what was taken: a message that moves while one looks is met further on."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from baton_messaging.broker.inspect.depth import Depth
from baton_messaging.models import Heartbeat
from baton_messaging.recovery import queue_states
from baton_messaging.recovery.losses import Loss, losses_of
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE
from django.db.models.functions import Now

from tests.recovery.situations import CONSUMER, hold, lose, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


class Broker:
    """As RabbitMQ: a queue that is empty says nothing of what was taken from it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.dead_count = 0
        self.before_look: Callable[[list[str]], Any] = lambda _queues: None
        self.after_look: Callable[[list[str]], Any] = lambda _queues: None
        monkeypatch.setattr(queue_states, "depths", self.depths)

    def depths(self, _connection: Any, queues: Iterable[str]) -> dict[str, Depth]:
        names = list(queues)
        self.before_look(names)
        found = {name: Depth(self.dead_count if name == DEAD_LETTER_QUEUE else 0, None, 1) for name in names}
        self.after_look(names)
        return found


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    return Broker(monkeypatch)


def lost() -> list[Loss]:
    states, in_flight = queue_states.take_snapshot(["sample"])
    return losses_of(CONSUMER, states["sample"], in_flight=in_flight.get(CONSUMER, set()), limit=10)


def test_what_is_in_no_queue_and_no_hand_is_lost(broker: Broker) -> None:
    send()
    lose()
    assert len(lost()) == 1


def test_what_is_taken_after_the_beat_and_before_the_look_is_not_lost(broker: Broker) -> None:
    send()
    broker.before_look = lambda _queues: hold([])  # beats with empty hands, and takes it before we take_snapshot
    assert lost() == []


def test_what_dies_in_a_hand_before_its_beat_is_not_lost(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = send()
    hold([row.message_id], beaten_seconds_ago=1)

    def die(_seconds: float) -> None:
        broker.dead_count = 1
        Heartbeat.objects.update(reserved=[], beaten_at=Now())

    monkeypatch.setattr("baton_messaging.recovery.queue_states.time.sleep", die)
    assert lost() == []


def test_what_dies_after_the_look_at_the_dead_letters_is_not_lost(broker: Broker) -> None:
    (row,) = send()
    hold([row.message_id], beaten_seconds_ago=-60)

    def die(queues: list[str]) -> None:
        if DEAD_LETTER_QUEUE in queues:
            Heartbeat.objects.update(reserved=[])

    broker.after_look = die
    assert lost() == []
