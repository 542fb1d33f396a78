"""All views of "where is it, whose is it?" are compared over every constellation of rows that a message can have."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from typing import Final
from uuid import UUID, uuid4

import pytest
from baton_dev.blame.comparison import REFINES
from baton_messaging.broker.inspect.depth import Depth
from baton_messaging.diagnosis.progress import progress_of
from baton_messaging.diagnosis.triage.report import triage
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, ProcessedMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.publish import publish
from baton_messaging.recovery.loss_rule import QueueState
from baton_messaging.recovery.losses import losses_of
from django.db import transaction
from django.utils import timezone

from tests.recovery.situations import CONSUMER
from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]

DEATHS: Final = ("", "open", "discarded", "resolved", "replay planned", "requested")
ATTEMPTS: Final = ("", "held back", "failed", "sent again")
SENDINGS: Final = ("unsent", "sent to some", "published")


@dataclass(frozen=True)
class Constellation:
    """Which rows there are about one message."""

    sending: str
    attempt: str
    death: str
    is_processed: bool

    @property
    def can_be(self) -> bool:
        """Tell whether operations can lead to it: a replay that may leave has its attempt 0."""
        return self.death != "requested" or bool(self.attempt)


def constellations() -> Iterator[Constellation]:
    for rows in product(SENDINGS, ATTEMPTS, DEATHS, (False, True)):
        constellation = Constellation(*rows)
        if constellation.can_be:
            yield constellation


def bring_about(constellation: Constellation) -> str:
    """Return the key of a message that stands so; everything of it is an hour old."""
    key, hour_ago = uuid4(), timezone.now() - timedelta(hours=1)
    with transaction.atomic():
        publish(Sampled(sample_id=key))
    rows = OutboxMessage.objects.filter(key=str(key))
    message_id = rows.get().message_id
    rows.update(
        occurred_at=hour_ago,
        published_at=hour_ago if constellation.sending == "published" else None,
        sent_to=[] if constellation.sending == "unsent" else [CONSUMER],
    )
    if constellation.attempt:
        _attempt(constellation.attempt, message_id, str(key), hour_ago)
    if constellation.death:
        _die(constellation.death, message_id, str(key), hour_ago)
    if constellation.is_processed:
        ProcessedMessage.objects.claim(consumer=CONSUMER, message_ids=[message_id], worker="w")
    return str(key)


def _attempt(kind: str, message_id: UUID, key: str, at: datetime) -> None:
    Attempt.objects.create(
        message_id=message_id,
        consumer=CONSUMER,
        attempt=0 if kind == "held back" else 1,
        key=key,
        envelope={"name": "sample.sampled"},
        error_class="TimeoutError",
        failed_at=at,
        due_at=at,
        sent_at=at if kind == "sent again" else None,
    )


def _die(kind: str, message_id: UUID, key: str, at: datetime) -> None:
    is_settled = kind in ("discarded", "resolved")
    DeadLetter.objects.create(
        message_id=message_id,
        consumer=CONSUMER,
        event_name="sample.sampled",
        key=key,
        owner="",
        reason=Reason.RETRIES_SPENT,
        error_class="TimeoutError",
        fingerprint="",
        died_at=at,
        state="requested" if kind == "replay planned" else kind,
        settled_at=at if is_settled else None,
        requested_at=at if kind == "requested" else None,
    )


def lost_keys() -> set[str]:
    """Return what the reconciler would send again if the queue were empty and no worker had anything."""
    empty = QueueState("sample", Depth(0, 0), timezone.now(), None, is_in_flight_known=True)
    ids = [loss.message_id for loss in losses_of(CONSUMER, empty, in_flight=[], limit=1_000)]
    return set(OutboxMessage.objects.filter(message_id__in=ids).values_list("key", flat=True))


def test_progress_triage_and_reconciler_agree_on_every_constellation() -> None:
    keys = {bring_about(constellation): constellation for constellation in constellations()}
    lost = lost_keys()
    for key, constellation in keys.items():
        (progress,) = progress_of(key)
        (verdict,) = triage(key).verdicts
        assert State(verdict.state) in REFINES[progress.state], (constellation, progress.state, verdict.state)
        assert (key in lost) <= (progress.state == "queued"), constellation
        if constellation.sending == "published" or constellation.death == "requested":
            assert (key in lost) == (progress.state == "queued"), (constellation, progress.state)
