"""Causes are separated from their victims: a finding that another one explains stands under it.

The rule: a finding about something that needs, by whatever detour, a resource whose diagnosis stops work is no fault of
its own. Where several explain it, the one nearest to the ground does.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.resource import Kind, Resource, kinds_needed_by

Needs = Mapping[Resource, Iterable[Resource]]
#: From the ground up: the first that explains a finding is its cause.
_GROUND_UP: Final = tuple(Kind)


def fold(diagnoses: Iterable[Diagnosis], needs: Needs | None = None) -> list[Diagnosis]:
    """Return the diagnoses in their order, those that are explained by another only under it.

    ``needs`` names what single resources depend on; for all others the kinds decide (``resource.NEEDS``).
    """
    told = list(diagnoses)
    causes = sorted((one for one in told if _is_cause(one)), key=lambda one: _GROUND_UP.index(one.about.kind))
    victims: dict[int, list[Diagnosis]] = defaultdict(list)
    explained: set[int] = set()
    for one in told:
        cause = next((cause for cause in causes if cause is not one and explains(cause, one, needs or {})), None)
        if cause is not None:
            victims[id(cause)].append(one)
            explained.add(id(one))
    return [
        one.with_victims((*one.victims, *_all_of(one, victims))) if id(one) in victims else one
        for one in told
        if id(one) not in explained
    ]


def explains(cause: Diagnosis, other: Diagnosis, needs: Needs) -> bool:
    """Tell whether the resource that ``other`` is about needs the one that ``cause`` says does no work, or is that one.

    Of two about one resource the one that stops work says why, and the other only that.
    """
    if other.status is Status.OK:
        return False
    if cause.about in other.needs:
        return cause.about not in cause.needs  # else both would wait for each other, and be told by nobody
    if other.about == cause.about:
        return cause.stops_work and not other.stops_work
    return cause.about in _needed_by(other.about, needs) or _needs_the_kind(other.about, cause.about, needs)


def _is_cause(one: Diagnosis) -> bool:
    return one.status is Status.FINDING and one.stops_work


def _needed_by(resource: Resource, needs: Needs) -> set[Resource]:
    found: set[Resource] = set()
    waiting = list(needs.get(resource, ()))
    while waiting:
        nearest = waiting.pop()
        if nearest not in found:
            found.add(nearest)
            waiting.extend(needs.get(nearest, ()))
    return found


def _needs_the_kind(resource: Resource, cause: Resource, needs: Needs) -> bool:
    """Tell whether everything of the kind needs it: there is one database and one broker; of others only named ones."""
    if cause.name:
        return False
    kinds = {*kinds_needed_by(resource.kind)}
    for needed in _needed_by(resource, needs):
        kinds |= {needed.kind, *kinds_needed_by(needed.kind)}
    return cause.kind in kinds


def _all_of(cause: Diagnosis, victims: Mapping[int, list[Diagnosis]]) -> list[Diagnosis]:
    """Return the victims, and those of victims that are causes themselves, flat: one look says who waits."""
    found: list[Diagnosis] = []
    for victim in victims.get(id(cause), ()):
        found += [victim, *_all_of(victim, victims)]
    return found
