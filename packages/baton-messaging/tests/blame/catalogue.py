"""Faults with the truth about each: what triage must say, and whom it must name."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from uuid import uuid4

from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.events import Event
from baton_messaging.models import DeadLetter, OutboxMessage, ProcessedMessage
from baton_messaging.publish import publish
from django.db import transaction

from tests.blame.stack import Stack
from tests.sample.events import Sampled

PLATFORM, SAMPLE, BLAME, SHOP = "Platform team", "Sample team", "Blame team", "Shop team"
CARE, WAREHOUSE = "Customer care", "Warehouse team"
TAKE_ONE = "sample.take_one"


@dataclass(frozen=True)
class Question:
    """What is asked while the fault is there: about an id, and there about one consumer ("" for the row itself)."""

    id: str
    consumer: str = TAKE_ONE


Injection = Callable[[Stack], Iterator[Question]]


@dataclass(frozen=True)
class Fault:
    """``inject`` brings it about, yields the question once it has taken effect, and heals what ``mend`` does not.

    ``says`` is a word that state or evidence must contain. ``only``: "redis" or "rabbitmq".
    """

    name: str
    inject: Callable[[Stack], AbstractContextManager[Question]]
    state: State
    owner: str
    on_rabbitmq: State | None = None
    says: str = ""
    only: str = ""
    is_short: bool = False
    is_pair: bool = False

    def expected(self, stack: Stack) -> State:
        """Return the true state on this broker."""
        return self.on_rabbitmq if stack.is_rabbitmq and self.on_rabbitmq else self.state


FAULTS: list[Fault] = []


def fault(
    name: str,
    state: State,
    owner: str,
    *,
    on_rabbitmq: State | None = None,
    says: str = "",
    only: str = "",
    short: bool = False,
    pair: bool = False,
) -> Callable[[Injection], Injection]:
    """Put a fault into the catalogue."""

    def declare(inject: Injection) -> Injection:
        FAULTS.append(Fault(name, contextmanager(inject), state, owner, on_rabbitmq, says, only, short, pair))
        return inject

    return declare


# --- what injections have in common ------------------------------------------------------------------------------


def place(event: Event) -> Question:
    """Publish an event to the consumer of the samples that takes it."""
    with transaction.atomic():
        publish(event)
    return Question(event.key)


def ordinary() -> Question:
    """Publish a message whose consumer does as it should."""
    return place(Sampled(sample_id=uuid4()))


def told_to(behaviour: str, seconds: float = 0) -> Question:
    """Publish a message whose consumer misbehaves."""
    return place(Sampled(sample_id=uuid4(), behaviour=behaviour, seconds=seconds))


def row_of(question: Question) -> OutboxMessage:
    return OutboxMessage.objects.filter(key=question.id).order_by("pk")[0]


def until_published(stack: Stack, question: Question) -> None:
    stack.wait(lambda: row_of(question).published_at, what="a message that left the outbox")


def until_processed(stack: Stack, question: Question) -> None:
    place = {"message_id": row_of(question).message_id, "consumer": question.consumer}
    stack.wait(ProcessedMessage.objects.filter(**place).exists, what="a row of the inbox")


def until_dead(stack: Stack, *, seconds: float = 60) -> DeadLetter:
    stack.wait(DeadLetter.objects.exists, what="a dead letter", seconds=seconds)
    return DeadLetter.objects.get()
