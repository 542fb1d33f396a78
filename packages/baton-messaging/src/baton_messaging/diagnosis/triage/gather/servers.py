"""What may take all the time that there is, is asked at the same time: broker, causes, and the apps' own checks.

Each in a thread with a connection of its own, which is left behind when time is up: a storage may hang, or a server.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, Final

import structlog

from baton_messaging.database.deadline import Deadline
from baton_messaging.diagnosis.installation import current_findings
from baton_messaging.diagnosis.triage.gather.broker import (
    BrokerSnapshot,
    broker_question,
    snapshot_of,
)
from baton_messaging.diagnosis.triage.gather.deadline import SERVERS_SECONDS
from baton_messaging.diagnosis.triage.gather.reach import heard
from baton_messaging.health.answers import Answer, NoAnswer, Question, answers_within
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.health.own_time import OwnTime
from baton_messaging.health.resource import Kind
from baton_messaging.recovery.findings import Contradiction, checked_consumers, contradicting

#: Of the deadline, for what is made of the looks: one of them may take all the time that it has.
COMPARISON_SECONDS: Final = 0.2

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ServersSnapshot:
    """What they said. Without an answer there are no causes, and no contradictions: the rules answer alone."""

    broker: BrokerSnapshot
    causes: tuple[Diagnosis, ...] = ()
    contradictions: dict[str, tuple[Contradiction, ...]] = field(default_factory=dict)  # by key
    checked_consumers: frozenset[str] = frozenset()  # whose effect was looked for
    guards: tuple[Diagnosis, ...] = ()


def ask_servers(
    queues: Collection[str],
    message_ids: Collection[str] = (),
    *,
    keys: Collection[str] = (),
    seconds: float = SERVERS_SECONDS,
) -> ServersSnapshot:
    """Ask where messages are, what stops work, and what contradicts "done" about some keys."""
    questions: dict[str, Question[Any]] = {
        "broker": broker_question(queues, message_ids),
        "causes": _causes,
    }
    if keys:
        questions["contradictions"] = lambda _deadline: contradicting(keys)
    own_time = OwnTime()
    answers = answers_within(seconds, questions)
    broker = snapshot_of(answers["broker"])
    reach = heard(broker.reach, own_time)
    findings: tuple[Diagnosis, ...] = _value(answers["causes"], without=())
    causes = tuple(one for one in findings if one.stops_work or one.concerns)
    if reach.cause and not any(cause.about == reach.cause.about for cause in causes):
        causes = (*causes, reach.cause)
    contradictions = _value(answers.get("contradictions"), without=None)
    return ServersSnapshot(
        replace(broker, reach=reach),
        causes,
        {key: tuple(found) for key, found in (contradictions or {}).items()},
        frozenset() if contradictions is None else checked_consumers(),
        tuple(one for one in findings if one.about.kind is Kind.SETTING and one.about.name.startswith("table ")),
    )


def _causes(deadline: Deadline) -> tuple[Diagnosis, ...]:
    return current_findings(deadline.earlier(COMPARISON_SECONDS).seconds_left)


def _value(answer: Answer[Any] | None, *, without: Any) -> Any:
    if answer is None:
        return without
    if answer.error and not isinstance(answer.error, NoAnswer):
        log.warning("not_answered", error_class=type(answer.error).__name__)
    return without if answer.value is None else answer.value
