"""Dead letters are discarded for a reason, and can be restored until their purge date."""

from typing import Any

from django.db.models import Exists, OuterRef

from baton_messaging.audit.actors import Actor
from baton_messaging.audit.operations import operation
from baton_messaging.dead_letters.intake.record import tell
from baton_messaging.dead_letters.operations.duplicates import change_without_duplicates
from baton_messaging.dead_letters.operations.errors import NothingToDo
from baton_messaging.dead_letters.operations.replay_rows import call_back
from baton_messaging.dead_letters.operations.resolve import tell_settled
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import DeadLetter
from baton_messaging.models.audit import Action
from baton_messaging.models.dead_letter import State


def discard(selection: Selection, *, actor: Actor, why: str) -> int:
    """Settle the open dead letters of a selection without an effect; return how many.

    What was still to be sent of them is called back; what a relay has claimed is not. Raises OperationRefused.
    """
    with operation(actor, Action.DISCARD, why=why, details={"selection": selection.as_dict()}) as done:
        selection.must_name("discard")
        dead_letter_ids = selection.dead_letters().open().lock()
        if not dead_letter_ids:
            raise NothingToDo("open dead letter", selection.dead_letters().count())
        dead_letters = DeadLetter.objects.filter(pk__in=dead_letter_ids)
        call_back(dead_letters)
        dead_letters.discard(by=actor.name)
        tell_settled(dead_letters.values_list("key", flat=True))
        done.touch(dead_letter_ids)
    return len(dead_letter_ids)


def restore(selection: Selection, *, actor: Actor, why: str = "") -> int:
    """Open the discarded dead letters of a selection again; return how many.

    Of several dead letters of a message the newest is opened, and none when it has died anew: the newer dead letter
    stands for them. Raises OperationRefused.
    """
    with operation(actor, Action.RESTORE, why=why, details={"selection": selection.as_dict()}) as done:
        selection.must_name("restore")
        dead_letter_ids = _open_again(selection)
        if not dead_letter_ids:
            raise NothingToDo("discarded dead letter", selection.dead_letters().count())
        dead_letters = DeadLetter.objects.filter(pk__in=dead_letter_ids)
        for dead_letter in dead_letters.filter(message_id__isnull=False).only("key", "consumer", "message_id"):
            if dead_letter.message_id:
                tell(key=dead_letter.key, consumer=dead_letter.consumer, message_id=dead_letter.message_id)
        done.touch(dead_letter_ids)
    return len(dead_letter_ids)


def _open_again(selection: Selection) -> list[int]:
    discarded = selection.dead_letters().filter(state=State.DISCARDED)
    same: dict[str, Any] = {"message_id": OuterRef("message_id"), "consumer": OuterRef("consumer")}
    unsettled = Exists(DeadLetter.objects.unsettled().filter(**same))
    newer = Exists(discarded.filter(**same, pk__gt=OuterRef("pk")))
    return change_without_duplicates(
        discarded.exclude(unsettled).exclude(newer), lambda dead_letters: dead_letters.restore()
    )
