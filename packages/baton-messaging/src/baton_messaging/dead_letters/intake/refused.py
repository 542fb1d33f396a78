"""Refused envelopes are recorded: those of a bundle that must not be processed, and a body that is no bundle at all.

Invariants: what comes again is counted, and makes no second row; of the junk of one body there is one row, however much
it is. What is refused is never processed, so what the list says of it costs the messages beside it nothing.

An envelope whose signature is wrong claims an id that proves nothing. Where the outbox has sent a message of that id to
this consumer, the dead letter is that message's own, with the envelope *of the outbox*: so the reconciler does not send
it into the same worker again, a person can replay it, and it is settled by itself when another copy gets through. A
forger gains nothing by it: the genuine message is processed as if the dead letter were not there
(docs/decisions/a-claimed-id-proves-nothing.md).
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from django.db import transaction

from baton_messaging.dead_letters.intake.record import identity_of, record_dead_letter, record_unreadable
from baton_messaging.errors import BadEnvelope, BadSignature, Misdirected, TooOld, Undecodable
from baton_messaging.messages.bundle import Bundle, Refused
from baton_messaging.messages.envelope import Envelope
from baton_messaging.messages.error_description import describe
from baton_messaging.messages.message_ids import message_id_in
from baton_messaging.models import OutboxMessage
from baton_messaging.models.dead_letter import Reason

MAX_SAMPLE_CHARS: Final = 2_000  # of junk: enough to see what it is, and whose it may be
MAX_SAMPLES: Final = 5

_REASONS: Final = {BadSignature: Reason.BAD_SIGNATURE, Misdirected: Reason.MISDIRECTED, TooOld: Reason.TOO_OLD}


def reason_of(error: BadEnvelope) -> Reason:
    """Return what the list calls it."""
    return _REASONS.get(type(error), Reason.UNDECODABLE)


def record_refused(bundle: Bundle, *, task_id: str = "") -> None:
    """Write a dead letter for each message that was refused, and one for all of the junk."""
    junk: list[Refused] = []
    for refused in bundle.refused:
        if refused.envelope is not None or message_id_in(refused.sealed):
            _record_message(bundle.consumer, refused, task_id)
        else:
            junk.append(refused)
    if junk:
        samples = [refused.sealed for refused in junk]
        _record_junk(bundle.consumer, samples, junk[0].error, reason_of(junk[0].error), task_id)


def record_bad_body(consumer: str, body: object, error: BadEnvelope, *, task_id: str = "") -> None:
    """Write one dead letter for a body that is no bundle."""
    samples = body if isinstance(body, list) else [body]
    _record_junk(consumer, samples, error, reason_of(error), task_id)


@transaction.atomic
def _record_message(consumer: str, refused: Refused, task_id: str) -> None:
    reason, error = reason_of(refused.error), describe(refused.error)
    claimed_id = message_id_in(refused.sealed)
    envelope = refused.envelope or _sent_to(consumer, claimed_id)
    if envelope is not None:
        record_dead_letter(
            consumer=consumer, envelope=envelope, reason=reason, error=error, attempt_count=0, task_id=task_id
        )
        return
    record_unreadable(
        consumer=consumer,
        raw=refused.sealed,
        reason=reason,
        error=error,
        identity=identity_of(consumer, str(claimed_id)),
        task_id=task_id,
    )


def _sent_to(consumer: str, claimed_id: str | None) -> Envelope | None:
    """Return the message of that id as the outbox has it, if it was sent to the consumer."""
    if claimed_id is None:
        return None
    row = OutboxMessage.objects.filter(message_id=claimed_id, sent_to__contains=[consumer]).first()
    with suppress(Undecodable):
        return row.envelope() if row else None
    return None


@transaction.atomic
def _record_junk(consumer: str, entries: Sequence[object], error: BadEnvelope, reason: Reason, task_id: str) -> None:
    shown = [str(entry)[:MAX_SAMPLE_CHARS] for entry in entries[:MAX_SAMPLES]]
    kept = (
        shown[0] if len(entries) == 1 else json.dumps({"entry_count": len(entries), "first_entries": shown}, indent=1)
    )
    identity = identity_of(consumer, f"{len(entries)} {kept}")
    record_unreadable(
        consumer=consumer, raw=kept, reason=reason, error=describe(error), identity=identity, task_id=task_id
    )
