"""Give dead letters to another consumer of the same event: theirs was renamed, or its work has moved.

The letters stay open and keep their message ids; a replay then sends them to the new consumer, whose inbox has never
seen them. Hazard: a release that still has the old consumer must be gone, or it may take a copy of its own.
"""

from typing import Any

from django.db.models import Exists, OuterRef

from messaging.dead_letters.actors import Actor
from messaging.dead_letters.audit import operation
from messaging.dead_letters.burial import group_of
from messaging.dead_letters.errors import BadRedirect, BadSelection, NothingToDo
from messaging.dead_letters.selection import Selection
from messaging.models import DeadLetter
from messaging.models.audit import Action
from messaging.models.dead_letter import UNSETTLED, DeadLetterQuerySet
from messaging.owners import owner_of
from messaging.subscriptions import subscription_named, subscriptions_of


def redirect(selection: Selection, *, to: str, actor: Actor, why: str) -> int:
    """Make ``to`` the consumer of the open letters of a selection; return how many moved.

    Letters that the old consumer has applied stay, and so do those whose message the new one has on the list already.
    Raises OperationRefused.
    """
    with operation(actor, Action.REDIRECT, why=why, details={"selection": selection.as_dict(), "to": to}) as done:
        if selection.is_empty:
            raise BadSelection("Expected a selection, got an empty one. Say which dead letters to redirect.")
        letter_ids = _movable(selection, to).lock()
        if not letter_ids:
            raise NothingToDo(f"open dead letter that can go to {to}", selection.letters().count())
        letters = DeadLetter.objects.filter(pk__in=letter_ids)
        _refuse_foreign_events(letters, to)
        done.details["from"] = sorted(set(letters.values_list("consumer", flat=True)))
        for reason, error_class in set(letters.values_list("reason", "error_class")):
            same = letters.filter(reason=reason, error_class=error_class)
            same.update(consumer=to, owner=str(owner_of(to)), fingerprint=group_of(to, reason, error_class))
        done.touch(letter_ids)
    return len(letter_ids)


def candidates(letter: DeadLetter) -> list[str]:
    """Return the consumers that a letter may be redirected to."""
    return [known.consumer for known in subscriptions_of(letter.event_name) if known.consumer != letter.consumer]


def _movable(selection: Selection, to: str) -> DeadLetterQuerySet:
    known: dict[str, Any] = {"message_id": OuterRef("message_id"), "consumer": to, "state__in": UNSETTLED}
    there_already = Exists(DeadLetter.objects.filter(**known))
    return selection.letters().replayable().unapplied().exclude(consumer=to).exclude(there_already)


def _refuse_foreign_events(letters: DeadLetterQuerySet, to: str) -> None:
    event_names = set(letters.values_list("event_name", flat=True))
    subscription = subscription_named(to)
    if subscription is None or event_names != {subscription.event_name}:
        there = [known.consumer for name in event_names for known in subscriptions_of(name)]
        raise BadRedirect(event_names, to, there)
