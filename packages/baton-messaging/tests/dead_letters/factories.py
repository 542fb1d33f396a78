"""Dead letters as rows, for tests that need none to die."""

from datetime import datetime
from typing import Any
from uuid import UUID

from baton_messaging.audit.actors import Actor
from baton_messaging.dead_letters.intake.record import group_of, record_dead_letter
from baton_messaging.messages.envelope import Envelope
from baton_messaging.messages.error_description import fault
from baton_messaging.models import DeadLetter, ProcessedMessage
from baton_messaging.models.dead_letter import Reason
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.utils import timezone
from uuid_utils.compat import uuid7

SHELL = Actor(name="ann", via="command")
CONSUMER = "sample.die"


def an_envelope(
    key: UUID | str | None = None, *, behaviour: str = "ok", occurred_at: datetime | None = None
) -> Envelope:
    key = key or uuid7()
    message_id = uuid7()
    return Envelope(
        message_id=message_id,
        name="sample.doomed",
        version=1,
        key=str(key),
        occurred_at=occurred_at or timezone.now(),
        correlation_id=message_id,
        causation_id=None,
        traceparent="",
        payload={"sample_id": str(key), "behaviour": behaviour},
    )


def a_letter(
    key: UUID | str | None = None, *, behaviour: str = "ok", occurred_at: datetime | None = None, **fields: Any
) -> DeadLetter:
    """Return an open letter of the sample's consumer, saved."""
    letter = unsaved(key, behaviour=behaviour, occurred_at=occurred_at, **fields)
    letter.save()
    letter.refresh_from_db()
    return letter


def letters(count: int, **fields: Any) -> list[DeadLetter]:
    """Return many, of one group, in one statement."""
    return DeadLetter.objects.bulk_create([unsaved(**fields) for _ in range(count)], batch_size=1000)


def unsaved(
    key: UUID | str | None = None, *, behaviour: str = "ok", occurred_at: datetime | None = None, **fields: Any
) -> DeadLetter:
    envelope = an_envelope(key, behaviour=behaviour, occurred_at=occurred_at)
    consumer, reason = fields.get("consumer", CONSUMER), fields.get("reason", Reason.PERMANENT_ERROR)
    error_class = fields.get("error_class", "ValueError")
    return DeadLetter(
        **{
            "message_id": envelope.message_id,
            "consumer": consumer,
            "event_name": envelope.name,
            "key": envelope.key,
            "owner": "Platform team <platform@example.com>",
            "reason": reason,
            "error_class": error_class,
            "error_message": "no such template",
            "traceback": "Traceback (most recent call last): …",
            "attempt_count": 1,
            "envelope": envelope.as_dict(),
            "fingerprint": group_of(consumer, reason, error_class),
            "occurred_at": envelope.occurred_at,
            **fields,
        }
    )


def die_again(letter: DeadLetter, text: str = "again") -> None:
    """Let a copy of the letter's message die, as its consumer does."""
    record_dead_letter(
        consumer=letter.consumer,
        envelope=letter.open_envelope(),
        reason=Reason.PERMANENT_ERROR,
        error=fault("KeyError", text),
        attempt_count=1,
    )


def death_after_the_look(**fields: Any) -> Any:
    """``with``: let a message die between the look at what an operation can change and the change."""
    looks: list[str] = []

    def look(execute: Any, sql: str, *rest: Any) -> Any:
        found = execute(sql, *rest)
        if "FOR UPDATE" in sql and not looks:
            looks.append(sql)
            a_letter(**fields)
        return found

    return connection.execute_wrapper(look)


def apply(letter: DeadLetter) -> None:
    """Put the letter's message into the inbox, as its consumer does."""
    ProcessedMessage.objects.create(message_id=letter.open_envelope().message_id, consumer=letter.consumer)


def an_operator(*permissions: str, name: str = "olga", **fields: Any) -> User:
    """Return a member of the staff with some of the permissions on dead letters."""
    user = User.objects.create_user(name, password="a password for tests", is_staff=True, **fields)
    codenames = [f"{permission}_deadletter" for permission in permissions]
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


def an_actor(*permissions: str, name: str = "olga") -> Actor:
    return Actor(name=name, via="desk", user=an_operator(*permissions, name=name))
