"""A rule's conclusion on a delivery, before evidence is added; and the next steps that several rules share."""

from collections.abc import Callable
from dataclasses import dataclass

from baton_messaging.conf import Team
from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.verdict import Phrase, State, Step
from baton_messaging.health.diagnosis import Confidence, Diagnosis


@dataclass(frozen=True)
class Conclusion:
    """A state with its owner and next step.

    Likely, unless a rule says that it is proved: by a row, by a server's own words or count, or by who does it himself.
    """

    state: State
    owner: Team
    step: Step
    needs_person: bool = False
    detail: Phrase | None = None
    open_questions: tuple[Phrase, ...] = ()
    confidence: Confidence = Confidence.LIKELY
    cause: Diagnosis | None = None


Rule = Callable[[Delivery, Facts], Conclusion | None]

WAIT = Step("wait")
NOTHING = Step("nothing")
RESTART_BROKER = Step("restart_broker")
ENLARGE_BROKER = Step("enlarge_broker")
RECONCILE = "python manage.py reconcile"
DOCTOR = "python manage.py doctor"
ASK_AGAIN = Step("ask_again", command=DOCTOR)
START_RELAY = Step("start_relay", command=commands.RELAY)
LOOK_AT_RELAY = Step("look_at_relay", command=DOCTOR)
START_COLLECTOR = Step("start_collector", command=commands.COLLECTOR)


def start_beat() -> Step:
    """Return the step that lets scheduled tasks run."""
    return Step("start_beat", command=commands.beat())


def start_worker(queue: str) -> Step:
    """Return the step that gives a queue a consumer."""
    return Step("start_worker", {"queue": queue}, command=commands.worker(queue))


def start_worker_after(queue: str, name: str) -> Step:
    """Return the step that gives a queue a consumer, when the last one did not end by itself."""
    return Step("start_worker_again", {"queue": queue, "name": name}, command=commands.worker(queue))
