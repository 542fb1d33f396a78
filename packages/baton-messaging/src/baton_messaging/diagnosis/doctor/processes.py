"""The processes that there must be one of: relay, collector, beat. Workers are asked for by queue."""

from collections.abc import Iterator
from typing import Final

from baton_messaging.diagnosis.doctor.lines import Line, judged
from baton_messaging.diagnosis.doctor.register import DATABASE, examines
from baton_messaging.models import Heartbeat
from baton_messaging.models.heartbeat import Trouble

#: Role, what it is called, and what is wrong without it.
WANTED: Final = {
    "relay": "nothing leaves the outbox",
    "collector": "what the broker gives up on is on no list",
    "beat": "nothing is pruned, retried exports wait, no alert is mailed",
}
COMMANDS: Final = {
    "relay": "python manage.py relay",
    "collector": "python manage.py collect_dead_letters",
    "beat": "python -m celery -A config beat",
}


@examines("processes", needs=(DATABASE,))
def examine_processes() -> Iterator[Line]:
    """Find roles that no living process has."""
    beats = list(Heartbeat.objects.fresh().exclude(role="worker"))
    for role, consequence in WANTED.items():
        yield _role(role, [beat for beat in beats if beat.role == role], consequence)


def _role(role: str, beats: list[Heartbeat], consequence: str) -> Line:
    if any(beat.trouble == Trouble.BROKER_FULL for beat in beats):
        return judged(
            False,
            role,
            found="lives, but the broker takes nothing: it is short of memory or disk",
            wanted="a broker that takes messages",
            remedy="Give the broker memory or disk, or workers to empty its queues.",
        )
    stuck = sorted(beat.name for beat in beats if not beat.is_consuming)
    found = f"stuck: {', '.join(stuck)}" if stuck else ", ".join(sorted(beat.name for beat in beats))
    return judged(
        bool(beats) and not stuck,
        role,
        found=found or f"no sign of life: {consequence}",
        wanted="a sign of life of each within 20 s",
        remedy=f"Restart {', '.join(stuck)}." if stuck else f"Start: {COMMANDS[role]}",
    )
