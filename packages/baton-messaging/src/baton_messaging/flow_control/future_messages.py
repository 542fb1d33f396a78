"""A person cancels or moves a message that is not due yet, with a reason: the page's door to what code does itself.

Invariant: the change and its audit entry are one commit, and it has one winner, in the database: the relay, which
releases the message, another person, or this one. Code of a project calls ``publish.cancel`` and ``reschedule``.
"""

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from baton_messaging.audit.actors import Actor
from baton_messaging.audit.errors import OperationRefused
from baton_messaging.audit.operations import operation
from baton_messaging.errors import NaiveTime
from baton_messaging.models import FutureMessage
from baton_messaging.models.audit import Action


class TooLate(OperationRefused):
    """It does not wait any more, or never did."""

    code = "too_late"

    def __init__(self, message_id: UUID) -> None:
        super().__init__(
            f"Expected {message_id} to wait for its time, got one that has left, was cancelled, or is not known. "
            f"Ask how far it got: manage.py triage {message_id}"
        )


def cancel_message(message_id: UUID, *, actor: Actor, why: str) -> None:
    """Cancel a message for good. Raises OperationRefused."""
    with operation(actor, Action.CANCEL, why=why, details={"message_id": str(message_id)}) as done:
        if not FutureMessage.objects.filter(message_id=message_id).cancel(by=actor.name, why=done.why):
            raise TooLate(message_id)


def move_message(message_id: UUID, due_at: datetime, *, actor: Actor, why: str) -> None:
    """Let a message be due at another time; one in the past means at once. Raises OperationRefused, NaiveTime."""
    if timezone.is_naive(due_at):
        raise NaiveTime(due_at)
    details = {"message_id": str(message_id), "due_at": due_at.isoformat()}
    with operation(actor, Action.MOVE, why=why, details=details):
        if not FutureMessage.objects.filter(message_id=message_id).move(due_at):
            raise TooLate(message_id)
