"""Dead letters are discarded for a reason, and can be restored until their purge date."""

from typing import Any

from django.db.models import Exists, OuterRef

from baton_messaging.audit.actors import Actor
from baton_messaging.audit.operations import operation
from baton_messaging.dead_letters.intake.record import tell
from baton_messaging.dead_letters.operations.duplicates import change_without_duplicates
from baton_messaging.dead_letters.operations.errors import BadSelection, NothingToDo
from baton_messaging.dead_letters.operations.replay_rows import call_back
from baton_messaging.dead_letters.operations.resolve import tell_settled
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import DeadLetter
from baton_messaging.models.audit import Action
from baton_messaging.models.dead_letter import State


def discard(selection: Selection, *, actor: Actor, why: str) -> int:
    """Settle the open letters of a selection without an effect; return how many.

    What was still to be sent of them is called back; what a relay has claimed is not. Raises OperationRefused.
    """
    with operation(actor, Action.DISCARD, why=why, details={"selection": selection.as_dict()}) as done:
        if selection.is_empty:
            raise BadSelection("Expected a selection, got an empty one. Say which dead letters to discard.")
        dead_letter_ids = selection.letters().open().lock()
        if not dead_letter_ids:
            raise NothingToDo("open dead letter", selection.letters().count())
        letters = DeadLetter.objects.filter(pk__in=dead_letter_ids)
        call_back(letters)
        letters.discard()
        tell_settled(letters.values_list("key", flat=True))
        done.touch(dead_letter_ids)
    return len(dead_letter_ids)


def restore(selection: Selection, *, actor: Actor, why: str = "") -> int:
    """Open the discarded letters of a selection again; return how many.

    Of several letters of a message the newest is opened, and none when it has died anew: the newer letter stands for
    them. Raises OperationRefused.
    """
    with operation(actor, Action.RESTORE, why=why, details={"selection": selection.as_dict()}) as done:
        if selection.is_empty:
            raise BadSelection("Expected a selection, got an empty one. Say which dead letters to restore.")
        dead_letter_ids = _open_again(selection)
        if not dead_letter_ids:
            raise NothingToDo("discarded dead letter", selection.letters().count())
        letters = DeadLetter.objects.filter(pk__in=dead_letter_ids)
        for letter in letters.filter(message_id__isnull=False).only("key", "consumer", "message_id"):
            if letter.message_id:
                tell(key=letter.key, consumer=letter.consumer, message_id=letter.message_id)
        done.touch(dead_letter_ids)
    return len(dead_letter_ids)


def _open_again(selection: Selection) -> list[int]:
    discarded = selection.letters().filter(state=State.DISCARDED)
    same: dict[str, Any] = {"message_id": OuterRef("message_id"), "consumer": OuterRef("consumer")}
    unsettled = Exists(DeadLetter.objects.unsettled().filter(**same))
    newer = Exists(discarded.filter(**same, pk__gt=OuterRef("pk")))
    return change_without_duplicates(discarded.exclude(unsettled).exclude(newer), lambda letters: letters.restore())
