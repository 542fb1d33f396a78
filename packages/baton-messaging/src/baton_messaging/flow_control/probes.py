"""Probes close a circuit: one message at a time is let through. The relay's part of the breaker.

The relay calls ``tend`` only while its own statement says that a circuit is open. Invariant: one probe at a time per
consumer (the circuit's row names it and is locked meanwhile). A probe without an answer is over after
PROBE_TIMEOUT_SECONDS, and another one begins; the inbox absorbs what comes of the first.
"""

from datetime import timedelta
from typing import Any, Final

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.fields.json import KT
from django.db.models.functions import Now
from django.utils import timezone

from baton_messaging.models import Attempt, Circuit, DeadLetter, Pause, ProcessedMessage

log = structlog.get_logger(__name__)

PROBE_TIMEOUT_SECONDS: Final = 300  # longer than any consumer's hard limit of ours, with its way through the queue


def tend() -> int:
    """Close the circuits whose probe succeeded, begin the probes that are due; return how many changes there were."""
    with transaction.atomic():
        circuits = list(Circuit.objects.open().select_for_update(skip_locked=True).order_by("pk"))
        return sum(_tend(circuit) for circuit in circuits)


def _tend(circuit: Circuit) -> bool:
    if circuit.probe_message_id is None:
        return _begin(circuit)
    place: dict[str, Any] = {"message_id": circuit.probe_message_id, "consumer": circuit.consumer}
    if ProcessedMessage.objects.filter(**place).exists():
        Circuit.objects.close(circuit.consumer)
        log.info("circuit_closed", consumer=circuit.consumer, probe_count=circuit.probe_count + 1)
        return True
    # Dead of something that tells nothing of the outside (a bad payload, a killed worker): try another one.
    if DeadLetter.objects.unsettled().filter(**place, died_at__gte=circuit.probe_sent_at).exists() or _is_over(circuit):
        return _begin(circuit)
    return False


def _is_over(circuit: Circuit) -> bool:
    sent_at = circuit.probe_sent_at
    return sent_at is None or timezone.now() - sent_at > timedelta(seconds=PROBE_TIMEOUT_SECONDS)


def _begin(circuit: Circuit) -> bool:
    """Name the message that has waited longest; the relay's next round sends it."""
    if circuit.next_probe_at > timezone.now():
        return False
    candidate = _next_waiting(circuit)
    changed: bool = candidate != circuit.probe_message_id
    Circuit.objects.filter(pk=circuit.pk).update(probe_message_id=candidate, probe_sent_at=Now() if candidate else None)
    return changed


def _next_waiting(circuit: Circuit) -> Any:
    paused = Pause.objects.in_force()
    if paused.filter(consumer=circuit.consumer).exists():
        return None
    due = Attempt.objects.filter(consumer=circuit.consumer, sent_at=None, due_at__lte=timezone.now())
    waiting = due.alias(event_name=KT("envelope__name"))
    # As the relay's claim has it: another event of the same key is another target.
    held = Exists(paused.filter(event_name=OuterRef("event_name"), key=OuterRef("key")))
    return waiting.exclude(held).order_by("due_at", "pk").values_list("message_id", flat=True).first()
