"""Dead letters are redirected to the new name of a consumer that was renamed.

The dead letters stay open and keep their message ids; a replay then sends them to the new consumer. Only dead letters
of a consumer that this release does not have can move, and only to one whose inbox has never seen their message:
another consumer of the event has had its own copy, so for it the replay would be a no-op and the work would never be
done. Hazard: a release that still has the old consumer must be gone, or it may take a copy of its own.
"""

from typing import Any

from django.db.models import Exists, OuterRef

from baton_messaging.audit.actors import Actor
from baton_messaging.audit.operations import operation
from baton_messaging.dead_letters.intake.record import group_of
from baton_messaging.dead_letters.operations.duplicates import change_without_duplicates
from baton_messaging.dead_letters.operations.errors import BadRedirect, NothingToDo
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import DeadLetter, ProcessedMessage
from baton_messaging.models.audit import Action
from baton_messaging.models.dead_letter import DeadLetterQuerySet
from baton_messaging.routing.ownership import owner_of
from baton_messaging.routing.subscriptions import all_consumers, subscription_named, subscriptions_of


def redirect(selection: Selection, *, to: str, actor: Actor, why: str) -> int:
    """Make ``to`` the consumer of the open dead letters of a selection; return how many moved.

    Dead letters that the old consumer has applied stay, and so do those whose message the new one has had or has on the
    list already, also since a moment ago. Of two dead letters of a message the newer one moves. Raises
    OperationRefused.
    """
    with operation(actor, Action.REDIRECT, why=why, details={"selection": selection.as_dict(), "to": to}) as done:
        selection.must_name("redirect")

        def move(dead_letters: DeadLetterQuerySet) -> None:
            _refuse_foreign_events(dead_letters, to)
            done.details["from"] = sorted(set(dead_letters.values_list("consumer", flat=True)))
            _give(dead_letters, to)

        dead_letter_ids = change_without_duplicates(_movable(selection, to), move)
        if not dead_letter_ids:
            raise NothingToDo(
                f"open dead letter of a consumer that is gone, which can go to {to}", selection.dead_letters().count()
            )
        done.touch(dead_letter_ids)
    return len(dead_letter_ids)


def candidates(dead_letter: DeadLetter) -> list[str]:
    """Return the consumers that a dead letter may be redirected to."""
    if dead_letter.consumer in all_consumers():
        return []
    return [
        known.consumer for known in subscriptions_of(dead_letter.event_name) if known.consumer != dead_letter.consumer
    ]


def _movable(selection: Selection, to: str) -> DeadLetterQuerySet:
    same: dict[str, Any] = {"message_id": OuterRef("message_id"), "consumer": to}
    is_applied = Exists(ProcessedMessage.objects.filter(**same))
    is_listed = Exists(DeadLetter.objects.unsettled().filter(**same))
    abandoned = selection.dead_letters().replayable().unapplied().exclude(consumer__in=all_consumers())
    movable = abandoned.exclude(is_applied).exclude(is_listed)
    return movable.exclude(Exists(movable.filter(message_id=OuterRef("message_id"), pk__gt=OuterRef("pk"))))


def _give(dead_letters: DeadLetterQuerySet, to: str) -> None:
    for reason, error_class in set(dead_letters.values_list("reason", "error_class")):
        same = dead_letters.filter(reason=reason, error_class=error_class)
        same.update(consumer=to, owner=str(owner_of(to)), fingerprint=group_of(to, reason, error_class))


def _refuse_foreign_events(dead_letters: DeadLetterQuerySet, to: str) -> None:
    event_names = set(dead_letters.values_list("event_name", flat=True))
    subscription = subscription_named(to)
    if subscription is None or event_names != {subscription.event_name}:
        there = [known.consumer for name in event_names for known in subscriptions_of(name)]
        raise BadRedirect(event_names, to, there)
