"""Dead letters that nobody attends to, by the owner who should."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Max, Min
from django.db.models.functions import Now
from django.utils import timezone

from baton_messaging.conf import baton
from baton_messaging.diagnosis.doctor.lines import Line, count_of, duration, judged
from baton_messaging.diagnosis.doctor.register import DATABASE, examines
from baton_messaging.models import DeadLetter


@examines("dead letters", needs=(DATABASE,))
def examine_dead_letters() -> Iterator[Line]:
    """Name owners with open dead letters older than ALERT_AGE_SECONDS."""
    age_seconds = baton().alert_age_seconds
    old = DeadLetter.objects.open().filter(died_at__lt=Now() - timedelta(seconds=age_seconds))
    owners = old.values("owner").annotate(dead_letter_count=Count("pk"), oldest=Min("died_at"), newest=Max("died_at"))
    wanted = f"none open for longer than {duration(age_seconds)}"
    lines = [
        judged(
            False,
            "dead letters",
            found=f"{count_of(row['dead_letter_count'], 'dead letter')} that nobody attends to, the oldest for "
            f"{duration((timezone.now() - row['oldest']).total_seconds())}",
            wanted=wanted,
            remedy="Replay or discard them: Admin → Dead letters, or manage.py dead_letters list",
            owner=row["owner"],
        )
        for row in owners.order_by("owner")
    ]
    yield from lines
    if not lines:
        count = DeadLetter.objects.open().count()
        found = f"{count_of(count, 'dead letter')} open, none of them old" if count else "none"
        yield judged(True, "dead letters", found=found, wanted=wanted, remedy="")
