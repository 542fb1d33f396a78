"""Health checks run at the same time, within one deadline.

    for health in run_checks(["database", "broker"], deadline_seconds=2):
        print(health.name, health.condition, health.said)

Callable wherever the work runs: in a worker, the relay, the web process, a shell. A check opens its own connections and
closes them; what it raises is classified, and becomes its answer. Silence accuses a server only where this process had
the time to listen (own_time.py), or where the server was seen to wait (the facts ``waits_for``, ``waits_because``).
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from baton_messaging.health.answers import Answer, answers_within
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.own_time import OwnTime
from baton_messaging.health.refusals import of_server
from baton_messaging.health.registry import check_named, check_names

DEADLINE_SECONDS: Final = 2.0


def run_checks(names: Iterable[str] | None = None, *, deadline_seconds: float = DEADLINE_SECONDS) -> list[Health]:
    """Return what the checks of these names found (all, if None), in their order. Never raises, never waits longer.

    The answer of a server that is silent is AWAY; of a name that no check has, NOT_KNOWN.
    """
    wanted = list(dict.fromkeys(check_names() if names is None else names))
    checks = {name: check for name in wanted if (check := check_named(name))}
    own_time = OwnTime()
    answers = answers_within(deadline_seconds, checks, key="check")
    found = [_health(name, answers[name]) if name in answers else _no_such(name) for name in wanted]
    if any(map(_is_silent, found)) and not own_time.is_evidence():
        return [_not_heard(one) if _is_silent(one) else one for one in found]
    return found


def _health(name: str, answer: Answer[Health]) -> Health:
    now = datetime.now(UTC)
    if answer.value is not None:
        seconds = answer.seconds if answer.value.seconds is None else answer.value.seconds
        return replace(answer.value, name=name, seconds=seconds, checked_at=answer.value.checked_at or now)
    refusal = of_server(answer.error or TypeError("the check returned nothing"))
    return Health(name, refusal.condition, refusal.said, seconds=answer.seconds, checked_at=now)


def _is_silent(health: Health) -> bool:
    """Tell an answer that did not come from one that was no: of no event that the server waits for is told."""
    if health.condition not in (Condition.AWAY, Condition.REFUSES) or any(health.facts.get(name) for name in _SEEN):
        return False
    return is_silence(health.said)


def is_silence(said: str) -> bool:
    """Tell words that a client says for a server that said nothing. A lock that was not given in time is an answer."""
    words = said.lower()
    return any(silence in words for silence in _SILENCE) and "lock timeout" not in words


_SILENCE: Final = ("no answer", "timeout", "timed out")
#: Facts by which a server has itself told what keeps it from answering.
_SEEN: Final = ("waits_for", "waits_because")


def _not_heard(health: Health) -> Health:
    said = f"{health.said}; but this process or machine was busy"
    return replace(health, condition=Condition.NOT_KNOWN, said=said, facts={**health.facts, "not_heard": True})


def _no_such(name: str) -> Health:
    return Health(name, Condition.NOT_KNOWN, f"there is no health check {name!r}", checked_at=datetime.now(UTC))
