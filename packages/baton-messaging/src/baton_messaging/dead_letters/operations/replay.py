"""Dead letters are replayed: one, a selection, a group, with a canary, a rate cap, and a way to stop.

The message keeps its id, so the inbox makes a second effect impossible. It leaves by the relay's door: a replay writes
attempt 0 of a new round, which is due at once or, with a rate cap, later; the relay sends it as it sends any retry.

Invariants: of two operators who act on one dead letter exactly one succeeds (rows are locked in id order, and every
change names the state it leaves); what was stopped and not sent yet is open again.
"""

from typing import Final

from django.db import transaction
from django.db.models import Count, Q

from baton_messaging.audit.actors import MACHINERY, Actor
from baton_messaging.audit.operations import operation
from baton_messaging.dead_letters.operations.errors import BadSelection, NothingToDo
from baton_messaging.dead_letters.operations.replay_plan import Fate, dry_run, with_fate
from baton_messaging.dead_letters.operations.replay_rows import send_held, withdraw_unsent
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import DeadLetter, Replay
from baton_messaging.models.audit import Action
from baton_messaging.models.dead_letter import State

CANARY_DIED: Final = "a dead letter of the canary died again"


def replay(
    selection: Selection,
    *,
    actor: Actor,
    why: str = "",
    canary_count: int = 0,
    rate_per_second: int = 0,
    may_repeat: bool = False,
) -> Replay:
    """Send the open dead letters of a selection again.

    ``canary_count`` dead letters go first; the rest follows when all of them are resolved, or never if one dies again.
    0 sends all. ``rate_per_second`` spreads them; 0 does not. ``may_repeat`` includes those that the inbox may have
    forgotten. Dead letters that the inbox has are resolved without being sent.

    Raises OperationRefused.
    """
    details = {"selection": selection.as_dict(), "canary_count": canary_count, "rate_per_second": rate_per_second}
    with operation(actor, Action.REPLAY, why=why, details=details) as done:
        selection.must_name("replay")
        if canary_count < 0 or rate_per_second < 0:
            raise BadSelection(f"Expected counts, got a canary of {canary_count} and {rate_per_second} per second.")
        before = dry_run(selection)
        fates = [Fate.APPLIES, Fate.IS_APPLIED, *([Fate.MAY_REPEAT] if may_repeat else [])]
        dead_letter_ids = with_fate(selection.dead_letters(), *fates).lock()
        if not dead_letter_ids:
            raise NothingToDo("open dead letter that can be replayed", before.dead_letter_count)
        done.details["plan"] = before.as_dict()
        order = Replay.objects.create(
            requested_by=actor.name,
            why=done.why,
            selection=selection.as_dict(),
            dead_letter_count=len(dead_letter_ids),
            canary_count=canary_count if canary_count < len(dead_letter_ids) else 0,
            rate_per_second=rate_per_second,
        )
        DeadLetter.objects.filter(pk__in=dead_letter_ids).update(replay=order, requested_at=None)
        done.touch(dead_letter_ids)
        done.details["replay"] = order.pk
        _begin(order)
    return Replay.objects.get(pk=order.pk)


def stop(replay_id: int, *, actor: Actor, why: str = "") -> int:
    """Stop a replay: what has not been sent is open again; return how many that were. Raises OperationRefused."""
    with operation(actor, Action.STOP, why=why, details={"replay": replay_id}) as done:
        if not Replay.objects.stop(replay_id, why=done.why or actor.name):
            raise NothingToDo("replay that is under way", 0)
        done.touch(withdraw_unsent(replay_id))
    return len(done.dead_letter_ids)


def release(replay_id: int, *, actor: Actor, why: str = "") -> int:
    """Send the rest without waiting for the canary; return how many. Raises OperationRefused."""
    with operation(actor, Action.RELEASE, why=why, details={"replay": replay_id}) as done:
        if not Replay.objects.release(replay_id):
            raise NothingToDo("replay that waits for its canary", 0)
        done.touch(send_held(Replay.objects.get(pk=replay_id)))
    return len(done.dead_letter_ids)


def advance() -> None:
    """Let replays go on whose canary is through, and stop those whose canary died again."""
    for order in Replay.objects.watching():
        with transaction.atomic():
            # Beat and whoever has a replay's page open look at the same time; one of them acts.
            if Replay.objects.watching().filter(pk=order.pk).select_for_update(skip_locked=True).exists():
                _advance(order)


def _advance(order: Replay) -> None:
    """Count what is well, not what died: a person may have dealt with a dead letter before we looked."""
    sent = order.dead_letters.filter(requested_at__isnull=False).aggregate(
        resolved=Count("pk", filter=Q(state=State.RESOLVED)), under_way=Count("pk", filter=Q(state=State.REQUESTED))
    )
    if sent["resolved"] + sent["under_way"] < order.canary_count:
        stop(order.pk, actor=MACHINERY, why=CANARY_DIED)
    elif not sent["under_way"]:
        Replay.objects.release(order.pk)
        send_held(order)


def _begin(order: Replay) -> None:
    """Send the canary, or everything when there is none."""
    if order.canary_count:
        send_held(order, limit=order.canary_count)
    else:
        Replay.objects.release(order.pk)
        send_held(order)
