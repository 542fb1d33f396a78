"""Signatures are verified again: the secret key of a message may be known by now (SECRET_KEY_FALLBACKS).

Only what is kept changes, from text to message; the dead letter stays open, and a person decides. Invariant: the app
whose row it is about hears of it in the same commit, as of any death: until now the dead letter had no key to tell.
"""

from typing import Final

from django.db import IntegrityError, transaction

from baton_messaging.dead_letters.intake.record import tell
from baton_messaging.messages.bundle import Bundle
from baton_messaging.models import DeadLetter
from baton_messaging.models.dead_letter import DeadLetterQuerySet, Reason
from baton_messaging.routing.subscriptions import event_of

MAX_DEAD_LETTERS: Final = 1_000  # in one go; the next dry run goes on


def reverify(dead_letters: DeadLetterQuerySet) -> int:
    """Make messages of the open dead letters that can be read now; return how many could."""
    unread = dead_letters.open().filter(envelope__isnull=True, reason=Reason.BAD_SIGNATURE).exclude(raw="")
    return sum(_reverify(dead_letter) for dead_letter in unread.only("pk", "raw", "consumer")[:MAX_DEAD_LETTERS])


def _reverify(dead_letter: DeadLetter) -> bool:
    found = Bundle.open(dead_letter.consumer, [dead_letter.raw], event_name=event_of(dead_letter.consumer)).envelopes
    if not found:
        return False
    (envelope,) = found
    unread = DeadLetter.objects.open().filter(pk=dead_letter.pk, envelope__isnull=True)
    try:
        with transaction.atomic():
            changed_count = unread.update(
                message_id=envelope.message_id,
                event_name=envelope.name,
                key=envelope.key,
                envelope=envelope.as_dict(),
                occurred_at=envelope.occurred_at,
            )
            if changed_count:
                tell(key=envelope.key, consumer=dead_letter.consumer, message_id=envelope.message_id)
    except IntegrityError:  # the message is on the list already, by another way
        return False
    return changed_count == 1
