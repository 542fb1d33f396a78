"""The outbox: does what is published leave for the broker?"""

from collections.abc import Iterator
from typing import Any, Final

from django.db.models import F
from django.db.models.functions import Now

from baton_messaging.diagnosis.doctor.lines import Line, count_of, duration, judged
from baton_messaging.diagnosis.doctor.register import DATABASE, examines
from baton_messaging.models import DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import RELAY, State

#: Seconds. A relay that lives sends within one; after a crash its lease (30 s) must end first.
MAX_LAG_SECONDS: Final = 60.0
_MAX_COUNTED: Final = 10_000


@examines("outbox", needs=(DATABASE,))
def examine_outbox() -> Iterator[Line]:
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
    yield judged(
        age_seconds <= MAX_LAG_SECONDS,
        "lag of the outbox",
        found=f"the oldest waits for {duration(age_seconds)}" if oldest else "nothing waits",
        wanted=f"at most {MAX_LAG_SECONDS:g} s",
        remedy="Look at the lines on relay and broker; the relay's log says broker_away while it cannot send.",
    )
    refused = waiting.exclude(last_error="").order_by("id")
    count = refused[:_MAX_COUNTED].count()
    first = refused.first() if count else None
    yield judged(
        not count,
        "messages that the broker refused",
        found=f"{count_of(count, 'message')}, the oldest {first.name}: {first.last_error}" if first else "none",
        wanted="none",
        remedy="Do what the error says; each is tried again by itself (Admin → Outbox messages).",
    )


def _put_back() -> Any:
    """Return what a replay has put back into the outbox: old messages, which leave at the pace of the replay."""
    letters = DeadLetter.objects.filter(state=State.REQUESTED, consumer=RELAY, message_id__isnull=False)
    return letters.values("message_id")
