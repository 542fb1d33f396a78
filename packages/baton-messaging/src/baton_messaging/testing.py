"""A test kit: what was published, a consumer run as a worker runs it, dead letters that really died.

For the tests of an app, with any test runner; the database is the test's own, in a transaction of the test or not.
A consumer runs by the code that a worker runs: signature, inbox row, effects and follow-ups in one transaction, pauses,
circuit breaker, failures recorded as attempts or dead letters.

*Not simulated*: relay and broker (nothing is sent; there are no queues, routes, full queues), time limits, a worker
that is killed, two deliveries at the same time, retries that come by themselves, bundles that the relay fills. For
those run real processes. *Hazard*: with a relay and a worker beside the test, both sides process the same outbox.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, overload

from celery import current_app
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from uuid_utils.compat import uuid7

from baton_messaging.audit.actors import Actor
from baton_messaging.consumer import ConsumerTask
from baton_messaging.dead_letters import record_dead_letter
from baton_messaging.dead_letters.operations.discard import discard
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.errors import PermanentError
from baton_messaging.events import Event, event_class
from baton_messaging.messages.bundle import Bundle
from baton_messaging.messages.envelope import Envelope
from baton_messaging.messages.error_description import describe
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, ProcessedMessage
from baton_messaging.models.dead_letter import Reason as DeathReason
from baton_messaging.routing.subscriptions import subscriptions_of

__all__ = [
    "DeathReason",
    "Outcome",
    "a_dead_letter",
    "assert_published",
    "dead_letters",
    "deliver",
    "deliver_bundle",
    "discard_dead_letter",
    "drain",
    "pretend_processed",
    "published",
]

E = TypeVar("E", bound=Event)

OutcomeState = Literal["done", "retrying", "dead", "held"]
MAX_DRAINED: Final = 1_000  # messages; more are two consumers that answer each other


@dataclass(frozen=True)
class Outcome:
    """What became of one message with one consumer.

    ``held``: a pause or an open circuit keeps it waiting, the consumer has not run. ``error`` is the class and text of
    what the consumer raised, with its traceback; empty where it raised nothing.
    """

    consumer: str
    event: str
    state: OutcomeState
    error: str = ""


@overload
def published() -> list[Event]: ...
@overload
def published(event: type[E], *, key: object = None) -> list[E]: ...
def published(event: type[Event] | None = None, *, key: object = None) -> list[Any]:
    """Return the events in the outbox, sent or not, in the order of publishing; of one class, about one key.

    ``key`` is compared as text, so an id may be given as it is.
    """
    rows = OutboxMessage.objects.order_by("pk")
    if event is not None:
        rows = rows.filter(name=event.event_name, version=event.event_version)
    if key is not None:
        rows = rows.filter(key=str(key))
    return [event_class(row.name, row.version).from_payload(row.payload) for row in rows]


def assert_published(event: type[E], *, key: object = None) -> E:
    """Return the one event of this class (about this key) in the outbox. Raises AssertionError for none, or several."""
    found = published(event, key=key)
    if len(found) != 1:
        about = "" if key is None else f" about {key}"
        names = ", ".join(f"{one.event_name} {one.key}" for one in published()) or "nothing"
        raise AssertionError(f"Expected one {event.event_name}{about}, got {len(found)}. The outbox has: {names}.")
    return found[0]


def deliver(event: Event, *, to: ConsumerTask, times: int = 1, expect: OutcomeState | None = "done") -> Outcome:
    """Run a consumer on one message as a worker does, and return what became of it.

    An event that is in the outbox is delivered as that message (the last one, if it was published twice), with its
    correlation; any other as a new message.
    ``times=2`` delivers the same message twice, as a broker may: the effects must be there once. Without a broker to
    bring it again a failed message stays where it is: deliver it once more for the next attempt.

    Raises AssertionError unless it ends as expected, with the consumer's own error; ``expect=None`` takes any end.
    """
    (outcome,) = deliver_bundle([event], to=to, times=times, expect=expect)
    return outcome


def deliver_bundle(
    events: Iterable[Event], *, to: ConsumerTask, times: int = 1, expect: OutcomeState | None = "done"
) -> list[Outcome]:
    """Run a consumer on several messages that arrive together, in this order; otherwise as ``deliver``.

    Any number is taken: ``bundle_size`` is the relay's business.
    """
    envelopes = [_envelope_of(event) for event in events]
    for _ in range(times):
        to(Bundle.of(to.name, envelopes).sealed)
    return [_checked(_outcome_of(envelope, to.name), expect) for envelope in envelopes]


def drain(*, expect: OutcomeState | None = "done") -> list[Outcome]:
    """Deliver what waits in the outbox to each of its consumers, with all that follows, until nothing waits.

    One message at a time, in the order of publishing; consumers in the order of their names. Marks the rows as sent.
    A message that failed is not tried again. Raises AssertionError as ``deliver`` does, or when there is no end.
    """
    outcomes: list[Outcome] = []
    for _ in range(MAX_DRAINED):
        row = OutboxMessage.objects.waiting().order_by("pk").first()
        if row is None:
            return outcomes
        consumers = [subscription.consumer for subscription in subscriptions_of(row.name)]
        OutboxMessage.objects.filter(pk=row.pk).update(published_at=Now(), sent_to=consumers)
        for consumer in consumers:
            current_app.tasks[consumer](Bundle.of(consumer, [row.envelope()]).sealed)
            outcomes.append(_checked(_outcome_of(row.envelope(), consumer), expect))
    raise AssertionError(
        f"Expected an end after {MAX_DRAINED} messages, got another. Do two consumers answer each other?"
    )


def pretend_processed(key: object) -> None:
    """Note every message about a key as processed by each of its consumers, without running any.

    For tests of what shows progress. Nothing of the consumers' effects is there.
    """
    for row in OutboxMessage.objects.filter(key=str(key)):
        for subscription in subscriptions_of(row.name):
            ProcessedMessage.objects.get_or_create(message_id=row.message_id, consumer=subscription.consumer)


def a_dead_letter(
    event: Event,
    *,
    consumer: ConsumerTask | str,
    error: BaseException | None = None,
    reason: DeathReason = DeathReason.PERMANENT_ERROR,
    attempt_count: int = 1,
) -> DeadLetter:
    """Put a message on the list of dead letters as its consumer would, without running it; return the row.

    The signal ``dead_lettered`` is sent, as for a real death. A message that the consumer has processed does not die:
    that raises DeadLetter.DoesNotExist. The row is for reading.
    """
    envelope, name = _envelope_of(event), consumer if isinstance(consumer, str) else consumer.name
    described = describe(error or PermanentError("made for a test"))
    with transaction.atomic():
        record_dead_letter(
            consumer=name, envelope=envelope, reason=reason, error=described, attempt_count=attempt_count
        )
    return DeadLetter.objects.unsettled().get(message_id=envelope.message_id, consumer=name)


def dead_letters(*, consumer: str = "", key: object = None) -> list[DeadLetter]:
    """Return the dead letters that wait for a person, the oldest first; of one consumer, about one key."""
    found = DeadLetter.objects.unsettled().order_by("pk")
    if consumer:
        found = found.filter(consumer=consumer)
    if key is not None:
        found = found.filter(key=str(key))
    return list(found)


def discard_dead_letter(dead_letter: DeadLetter) -> None:
    """Discard a dead letter, as a person does at a terminal. After the key's last, ``dead_letters_settled`` is sent."""
    discard(Selection(ids=(dead_letter.pk,)), actor=Actor(name="test", via="command"), why="a test")


def _envelope_of(event: Event) -> Envelope:
    rows = OutboxMessage.objects.filter(name=event.event_name, version=event.event_version, key=event.key)
    row = rows.filter(payload=event.payload()).order_by("pk").last()
    if row is not None:
        return row.envelope()
    message_id = uuid7()
    return Envelope(
        message_id=message_id,
        name=event.event_name,
        version=event.event_version,
        key=event.key,
        occurred_at=timezone.now(),
        correlation_id=message_id,
        causation_id=None,
        traceparent="",
        payload=event.payload(),
    )


def _outcome_of(envelope: Envelope, consumer: str) -> Outcome:
    """Read what became of it from the tables, as triage does."""
    place = {"message_id": envelope.message_id, "consumer": consumer}
    if ProcessedMessage.objects.filter(**place).exists():
        return Outcome(consumer, envelope.name, "done")
    dead_letter = DeadLetter.objects.unsettled().filter(**place).first()
    if dead_letter is not None:
        return Outcome(
            consumer,
            envelope.name,
            "dead",
            f"{dead_letter.error_class}: {dead_letter.error_message}\n{dead_letter.traceback}",
        )
    last = Attempt.objects.filter(**place).order_by("round", "attempt").last()
    if last is None or not last.attempt:
        return Outcome(consumer, envelope.name, "held")
    return Outcome(consumer, envelope.name, "retrying", f"{last.error_class}: {last.error_message}\n{last.traceback}")


def _checked(outcome: Outcome, expect: OutcomeState | None) -> Outcome:
    if expect is not None and outcome.state != expect:
        what = f"{outcome.event} at {outcome.consumer}"
        raise AssertionError(f"Expected {what} to be {expect}, got {outcome.state}. {outcome.error}".rstrip())
    return outcome
