"""Messages examined: do they leave the outbox, are the dead attended to, do business rows contradict them?"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from django.db.models import Count, F, Max, Min
from django.db.models.functions import Now
from django.utils import timezone

from baton_messaging.conf import baton
from baton_messaging.diagnosis.doctor.examination import DATABASE, Observation, count_of, duration, examines, observed
from baton_messaging.models import DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import RELAY, State
from baton_messaging.recovery.findings import findings

#: Seconds. A relay that lives sends within one; after a crash its lease (30 s) must end first.
MAX_LAG_SECONDS: Final = 60.0
_MAX_COUNTED: Final = 10_000


@examines("outbox", needs=(DATABASE,))
def examine_outbox() -> Iterator[Observation]:
    """Find messages that wait too long, and those that the broker did not take."""
    waiting = OutboxMessage.objects.waiting()
    oldest = (
        waiting.filter(last_error="")
        .exclude(message_id__in=_put_back())
        .order_by("id")
        .annotate(age=Now() - F("occurred_at"))
        .first()
    )
    age_seconds = max(0.0, oldest.age.total_seconds()) if oldest else 0.0  # type: ignore[attr-defined]
    yield observed(
        age_seconds <= MAX_LAG_SECONDS,
        "lag of the outbox",
        found=f"the oldest waits for {duration(age_seconds)}" if oldest else "nothing waits",
        wanted=f"at most {MAX_LAG_SECONDS:g} s",
        remedy="Look at the observations on relay and broker; the relay's log says broker_away while it cannot send.",
    )
    refused = waiting.exclude(last_error="").order_by("id")
    count = refused[:_MAX_COUNTED].count()
    first = refused.first() if count else None
    yield observed(
        not count,
        "messages that the broker refused",
        found=f"{count_of(count, 'message')}, the oldest {first.name}: {first.last_error}" if first else "none",
        wanted="none",
        remedy="Do what the error says; each is tried again by itself (Admin → Outbox messages).",
    )


def _put_back() -> Any:
    """Return what a replay has put back into the outbox: old messages, which leave at the pace of the replay."""
    dead_letters = DeadLetter.objects.filter(state=State.REQUESTED, consumer=RELAY, message_id__isnull=False)
    return dead_letters.values("message_id")


@examines("dead letters", needs=(DATABASE,))
def examine_dead_letters() -> Iterator[Observation]:
    """Name owners with open dead letters older than ALERT_AGE_SECONDS."""
    age_seconds = baton().alert_age_seconds
    old = DeadLetter.objects.open().filter(died_at__lt=Now() - timedelta(seconds=age_seconds))
    owners = old.values("owner").annotate(dead_letter_count=Count("pk"), oldest=Min("died_at"), newest=Max("died_at"))
    wanted = f"none open for longer than {duration(age_seconds)}"
    observations = [
        observed(
            False,
            "dead letters",
            found=f"{count_of(row['dead_letter_count'], 'dead letter')} without a decision, the oldest for "
            f"{duration((timezone.now() - row['oldest']).total_seconds())}",
            wanted=wanted,
            remedy="Replay or discard them: Admin → Dead letters, or manage.py dead_letters list",
            owner=row["owner"],
        )
        for row in owners.order_by("owner")
    ]
    yield from observations
    if not observations:
        count = DeadLetter.objects.open().count()
        found = f"{count_of(count, 'dead letter')} open, none of them old" if count else "none"
        yield observed(True, "dead letters", found=found, wanted=wanted, remedy="")


WHAT, WANTED = "rows and their messages", "none that contradict each other"


@examines(WHAT, needs=(DATABASE,))
def examine_rows() -> Iterator[Observation]:
    """Run the checks that apps have registered with the reconciler."""
    found = findings()
    for one in found:
        examples = ", ".join(one.examples)
        yield observed(
            False,
            WHAT,
            found=f"{one.what}: {one.count} (as {examples})",
            wanted=WANTED,
            remedy=one.remedy,
            owner=one.owner,
        )
    if not found:
        yield observed(True, WHAT, found="no contradiction", wanted=WANTED, remedy="")
