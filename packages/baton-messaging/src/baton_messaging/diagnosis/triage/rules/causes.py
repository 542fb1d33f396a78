"""Causes come before their victims: a delivery that waits for what does no work is not the fault of its own way.

The rules say how far a message got, and which team would have to act if all else were well. Here it is asked whether
all else is well: machine, database, broker, the servers that the consumer names, and that everyone is wired to the
same. If not, the state stays what is known of the way, and owner, evidence, step and confidence are the cause's.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.rules.conclusion import DOCTOR, Conclusion
from baton_messaging.diagnosis.triage.verdict import State, Step, phrase
from baton_messaging.health.causes import explains
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.processes.comparison import MAIL_OF

MAX_ERROR_CHARS: Final = 200  # the trail and the desk show the rest
RELAY: Final = Resource(Kind.ROLE, "relay")
BEAT: Final = Resource(Kind.ROLE, "beat")
COLLECTOR: Final = Resource(Kind.ROLE, "collector")
_RUNNING: Final = Resource(Kind.PROCESS, "that runs it")

#: A message that waits for somebody who waits himself: the state names how far it got, not whom the rule suspected.
_INSTEAD: Final[Mapping[State, State]] = {
    State.RELAY_STALLED: State.WAITING,
    State.NOBODY_CONSUMES: State.QUEUED,
    State.LOST: State.ELSEWHERE,
}
#: In these a message left for the broker, and neither it nor a worker is where this installation looks.
_ASTRAY: Final = frozenset({State.LOST, State.ELSEWHERE})
_WITH_THE_BROKER: Final = frozenset({State.LOST, State.ELSEWHERE, State.NOBODY_CONSUMES, State.QUEUED})


def explained(conclusion: Conclusion, delivery: Delivery, facts: Facts) -> Conclusion:
    """Return the conclusion, with the cause that lies beneath it if there is one."""
    if conclusion.cause is not None or delivery.lock:  # who holds the lock is as near to the ground as can be
        return conclusion
    cause = _cause(conclusion, delivery, facts)
    if cause is None:
        return conclusion
    if cause.about.kind is Kind.WIRING and _is_missing(conclusion, delivery, facts) and _has_worker(delivery, facts):
        conclusion = replace(conclusion, state=State.ELSEWHERE)
    return _with(cause, conclusion, facts)


def _cause(conclusion: Conclusion, delivery: Delivery, facts: Facts) -> Diagnosis | None:
    """Return the cause that is nearest to the ground."""
    if conclusion.state is State.DONE:
        return _misdirected(delivery, facts)
    dead_letter = delivery.dead_letter
    if conclusion.state is State.DEAD and dead_letter:
        if dead_letter.state != "open":
            return None
        return present_cause(
            delivery.consumer,
            dead_letter.reason,
            facts.causes,
            facts.needs,
            refusal=dead_letter.refusal,
            is_ours=delivery.published is not None,
        )
    needed = [_as_victim(resource) for resource in _needed(conclusion, delivery, facts)]
    found = [
        cause
        for cause in facts.causes
        if cause.status is Status.FINDING
        and (
            (cause.stops_work and any(_explains(cause, victim, facts) for victim in needed))
            or (cause.about.kind is Kind.WIRING and _is_wired_apart(cause, conclusion, delivery, facts))
        )
    ]
    known = _nearest_to_the_ground(found) or _refusal_of(conclusion, delivery)
    return known or _server_of(conclusion, delivery, facts) or _server_of_work(conclusion, delivery, facts)


def _misdirected(delivery: Delivery, facts: Facts) -> Diagnosis | None:
    """Return why what its worker did reached nobody: its mails go to no server."""
    needed = facts.needs.get(Resource(Kind.CONSUMER, delivery.consumer), ())
    done = delivery.processed
    if done is None or Resource(Kind.SERVICE, "mail") not in needed:
        return None
    causes = (one for one in facts.causes if one.about.kind is Kind.SERVICE and one.about.name.startswith(MAIL_OF))
    return next((replace(one, confidence=Confidence.LIKELY) for one in causes if done.worker in one.about.name), None)


def _refusal_of(conclusion: Conclusion, delivery: Delivery) -> Diagnosis | None:
    """Return why the database refused the last attempt a statement: the next one will meet the same."""
    return delivery.failed.refusal if delivery.failed and conclusion.state in (State.RETRYING, State.HELD) else None


def _server_of(conclusion: Conclusion, delivery: Delivery, facts: Facts) -> Diagnosis | None:
    """Return the server that the consumer names, if its error says of it what no check has said yet."""
    told = delivery.held or delivery.failed
    service = next(_services(delivery, facts), None)
    if conclusion.state not in (State.RETRYING, State.HELD) or not service or not told or not told.is_transient:
        return None
    error = " ".join((delivery.failed.error_text if delivery.failed else "").split())[:MAX_ERROR_CHARS]
    return finding(
        service,
        service.name,
        found=format_lazy(_("{server} fails: {error}"), server=service.name, error=error or told.error_class),
        wanted=_("a server that does what the work needs"),
        remedy=_("Look at that server and at its settings; what needs it is tried again by itself."),
        owner=facts.platform,
        command=DOCTOR,
        confidence=Confidence.LIKELY,
        stops_work=True,
    )


def _server_of_work(conclusion: Conclusion, delivery: Delivery, facts: Facts) -> Diagnosis | None:
    """Return the server on which the work failed, as the app's own row says: it is asked now, where it was used."""
    work = delivery.work
    if conclusion.state is not State.DEAD or delivery.dead_letter or not work or not work.service:
        return None
    return finding(
        Resource(Kind.SERVICE, work.service),
        work.service,
        found=format_lazy(
            _("the work failed on {server} ({detail}), as {worker} saw it"),
            server=work.service,
            detail=work.detail,
            worker=work.worker or delivery.queue,
        ),
        wanted=_("a server that does what the work needs"),
        remedy=_("Read in that worker's log what the system said, mend it (room, rights, descriptors), and ask again."),
        owner=facts.platform,
        command=DOCTOR,
        confidence=Confidence.LIKELY,
        stops_work=True,
    )


def _explains(cause: Diagnosis, victim: Diagnosis, facts: Facts) -> bool:
    """Tell whether what is needed is the cause itself, or needs it in turn."""
    if victim.about == _RUNNING and cause.about.kind is Kind.BROKER:
        return False
    return cause.about == victim.about or explains(cause, victim, facts.needs)


def _is_wired_apart(cause: Diagnosis, conclusion: Conclusion, delivery: Delivery, facts: Facts) -> bool:
    """Tell whether what differs is on the way of this message. A diagnosis of wiring is named by processes, or a queue.

    Of a process that is not known here it is not known what it takes: it explains only what is not found.
    """
    names = set(cause.about.name.split(", "))
    if delivery.queue in names:
        is_unattended = conclusion.state is State.NOBODY_CONSUMES and cause.stops_work
        return is_unattended or conclusion.state in _ASTRAY or _is_missing(conclusion, delivery, facts)
    if not cause.stops_work:
        return False
    if conclusion.state in _ASTRAY or _is_missing(conclusion, delivery, facts):
        return True
    if conclusion.state is State.UNKNOWN and any(one.name in names for one in facts.of_role("collector")):
        return True
    carriers = {one.name for one in (*facts.of_role("relay"), *facts.consumers_of(delivery.queue)) if one.is_at_work}
    others = [one for one in facts.consumers_of(delivery.queue) if one.is_at_work and one.name not in names]
    is_relays = any(relay.name in names for relay in facts.of_role("relay"))
    return conclusion.state in _WITH_THE_BROKER and bool(names & carriers) and (is_relays or not others)


def _has_worker(delivery: Delivery, facts: Facts) -> bool:
    return any(one.is_at_work for one in facts.consumers_of(delivery.queue))


def _is_missing(conclusion: Conclusion, delivery: Delivery, facts: Facts) -> bool:
    """Tell whether it has left, and is neither in its queue, as far as the broker was read, nor in a worker here."""
    queue = facts.queues.get(delivery.queue)
    is_not_there = queue is not None and (queue.is_complete or not queue.total_count)
    is_held = delivery.seen is not None or delivery.in_flight is not None
    return conclusion.state in _WITH_THE_BROKER and is_not_there and not is_held


def present_cause(
    consumer: str,
    reason: str,
    causes: Iterable[Diagnosis],
    needs: Mapping[Resource, Iterable[Resource]],
    *,
    refusal: Diagnosis | None = None,
    is_ours: bool = False,
) -> Diagnosis | None:
    """Return what keeps the consumer of an open dead letter from its work now: a replay would die of it again.

    It died of its retries while a server that it names does no work, of a signature that another process made, or of a
    ``refusal``: a statement that the database did not execute (refused_statements.py), the more so if it does no work.
    ``is_ours``: the outbox has the message, so that it was signed here.
    """
    if refusal is not None:
        return next((one for one in causes if one.about == refusal.about and one.stops_work), refusal)
    services = {one for one in needs.get(Resource(Kind.CONSUMER, consumer), ()) if one.kind is Kind.SERVICE}
    found = [
        cause
        for cause in causes
        if cause.stops_work
        and (
            (reason == "retries_spent" and cause.about in services)
            or (reason == "bad_signature" and cause.about.kind is Kind.WIRING)
        )
    ]
    return _nearest_to_the_ground(found) or (_former_key() if is_ours and reason == "bad_signature" else None)


def _former_key() -> Diagnosis:
    """Return why a message is taken for forged though all that run share a key: it was signed before that was changed.

    Likely only: what is forged dies of the same.
    """
    return finding(
        Resource(Kind.SETTING, "DJANGO_SECRET_KEY"),
        _("signing key"),
        found=_(
            "no process that runs accepts the key that signed it: a key was changed without a fallback, or it is forged"
        ),
        wanted=_("a former key among the fallbacks until all that it signed is done"),
        remedy=_(
            "If the key was changed, add the former one to DJANGO_SECRET_KEY_FALLBACKS of all processes, and replay: "
            "what is replayed is signed anew."
        ),
        confidence=Confidence.LIKELY,
        stops_work=True,
    )


def _nearest_to_the_ground(causes: Iterable[Diagnosis]) -> Diagnosis | None:
    return min(causes, key=lambda cause: _GROUND_UP[cause.about.kind], default=None)


_GROUND_UP: Final = {kind: number for number, kind in enumerate(Kind)}


def _needed(conclusion: Conclusion, delivery: Delivery, facts: Facts) -> Iterator[Resource]:
    """Return what must work for the message to go on from where it is."""
    match conclusion.state:
        case State.WAITING | State.RELAY_STALLED:
            yield RELAY
        case State.RETRYING:
            yield RELAY
            yield Resource(Kind.CONSUMER, delivery.consumer)
        case State.HELD if not (delivery.held and delivery.held.is_pause):
            yield Resource(Kind.CONSUMER, delivery.consumer)
        case State.RUNNING:  # what has begun needs the broker no more
            yield _RUNNING
            yield from _services(delivery, facts)
        case State.QUEUED | State.NOBODY_CONSUMES:
            yield Resource(Kind.QUEUE, delivery.queue)
            yield Resource(Kind.CONSUMER, delivery.consumer)
        case State.LOST | State.UNKNOWN:
            yield BEAT
            yield Resource(Kind.QUEUE, facts.platform_queue)
            yield Resource(Kind.QUEUE, delivery.queue)
        case State.DEAD if delivery.dead_letter is None and delivery.work:
            yield from _services(delivery, facts)
        case State.DEAD:
            yield COLLECTOR
        case _:
            return


def _services(delivery: Delivery, facts: Facts) -> Iterator[Resource]:
    needed = facts.needs.get(Resource(Kind.CONSUMER, delivery.consumer), ())
    yield from (resource for resource in needed if resource.kind is Kind.SERVICE)


def _as_victim(resource: Resource) -> Diagnosis:
    return Diagnosis(resource, what="", status=Status.FINDING, found="")


def _with(cause: Diagnosis, conclusion: Conclusion, facts: Facts) -> Conclusion:
    state = conclusion.state
    stands_before_it = state is State.RELAY_STALLED and cause.about.kind is Kind.BROKER
    sees_nobody = state is State.NOBODY_CONSUMES and cause.about.kind in (Kind.WIRING, Kind.PROCESS)
    is_only_lost = state is State.LOST and cause.about.kind not in (Kind.WIRING, Kind.PROCESS, Kind.QUEUE)
    if not (stands_before_it or sees_nobody or is_only_lost):
        state = _INSTEAD.get(state, state)
    return replace(
        conclusion,
        state=state,
        owner=cause.owner or facts.platform,
        step=step_of(cause),
        needs_person=True,
        detail=phrase("cause", found=cause.found),
        confidence=Confidence.LIKELY if cause.about.kind is Kind.WIRING else cause.confidence,
        cause=cause,
    )


def step_of(diagnosis: Diagnosis) -> Step:
    """Return the step that mends what a diagnosis says."""
    return Step("remedy", {"remedy": diagnosis.remedy}, command=diagnosis.command, link=diagnosis.link)
