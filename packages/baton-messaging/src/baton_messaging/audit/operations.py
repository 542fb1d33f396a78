"""An operation checks the right, does everything in one transaction, and writes the audit.

Invariant: an operation and its audit entry are one commit. What is refused changes nothing and has an entry, too.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.db import connection, transaction

from baton_messaging.audit.actors import PERMISSIONS, Actor
from baton_messaging.audit.errors import BadText, NotPermitted, OperationRefused, WhyMissing
from baton_messaging.database.text import storable
from baton_messaging.models import AuditEntry
from baton_messaging.models.audit import Action, Outcome

log = structlog.get_logger(__name__)

NEEDS_WHY = frozenset({Action.EDIT, Action.REDIRECT, Action.DISCARD, Action.PAUSE, Action.CANCEL, Action.MOVE})

_TOUCH = """
    INSERT INTO baton_audited_dead_letter (entry_id, dead_letter_id, message_id, consumer)
    SELECT %s, id, message_id, consumer FROM baton_dead_letter WHERE id = ANY(%s::bigint[])
"""


@dataclass
class Operation:
    """What the audit will say. The operation fills in ``details`` and the dead letters that it touched."""

    actor: Actor
    action: Action
    why: str
    details: dict[str, Any]
    dead_letter_ids: list[int] = field(default_factory=list)

    def touch(self, dead_letter_ids: Iterable[int]) -> None:
        """Note which dead letters were changed."""
        self.dead_letter_ids.extend(dead_letter_ids)


@contextmanager
def operation(
    actor: Actor, action: Action, *, why: str = "", details: dict[str, Any] | None = None
) -> Iterator[Operation]:
    """Do an operation inside: in one transaction, with its entry in the audit.

    Raises NotPermitted, WhyMissing, BadText, and whatever OperationRefused comes from inside.
    """
    given = {**(details or {}), "why": why.strip()}
    kept = {name: storable(value) if isinstance(value, str) else value for name, value in given.items()}
    bad = [name for name, value in given.items() if value != kept[name]]
    done = Operation(actor=actor, action=action, why=kept.pop("why"), details=kept)
    try:
        if not actor.may(action):
            raise NotPermitted(actor.name, PERMISSIONS[action])
        if action in NEEDS_WHY and not done.why:
            raise WhyMissing(str(action.label))
        if bad:
            raise BadText(bad)
        with transaction.atomic():
            yield done
            _write(done, Outcome.DONE, done.dead_letter_ids)
    except OperationRefused as refusal:
        done.details["refusal"] = {"code": refusal.code, "text": storable(str(refusal))}
        _write(done, Outcome.REFUSED, ())
        raise


def _write(done: Operation, outcome: Outcome, dead_letter_ids: Sequence[int]) -> None:
    entry = AuditEntry.objects.create(
        actor=done.actor.name,
        user_id=done.actor.user_id,
        via=done.actor.via,
        action=done.action,
        outcome=outcome,
        why=done.why,
        dead_letter_count=len(dead_letter_ids),
        details=done.details,
    )
    if dead_letter_ids:
        with connection.cursor() as cursor:
            cursor.execute(_TOUCH, [entry.pk, list(dead_letter_ids)])
    log.info(
        "dead_letter_operation",
        actor=done.actor.name,
        action=str(done.action),
        outcome=str(outcome),
        dead_letter_count=len(dead_letter_ids),
    )
