"""Causes come before their victims: a delivery that waits for what does no work is not the fault of its own way.

The rules say how far a message got, and which team would have to act if all else were well. Here it is asked whether
all else is well: machine, database, broker, the servers that the consumer names, and that everyone is wired to the
same. If not, the state stays what is known of the way, and owner, evidence, step and confidence are the cause's.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from baton_messaging.diagnosis.former_keys import former_key, signer_is_gone
from baton_messaging.diagnosis.servers.broker_room import EVICTED
from baton_messaging.diagnosis.servers.service import failed_on, failing
from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts
from baton_messaging.diagnosis.triage.rules.conclusion import Conclusion
from baton_messaging.diagnosis.triage.verdict import State, Step, phrase
from baton_messaging.health.causes import explains
from baton_messaging.health.diagnosis import Confidence, Diagnosis, Status
from baton_messaging.health.resource import Kind, Resource

RELAY: Final = Resource(Kind.ROLE, "relay")
BEAT: Final = Resource(Kind.ROLE, "beat")
COLLECTOR: Final = Resource(Kind.ROLE, "collector")
_EVICTED: Final = Resource(Kind.SETTING, EVICTED)
_RUNNING: Final = Resource(Kind.PROCESS, "that runs it")

#: A message that waits for somebody who waits himself: the state names how far it got, not whom the rule suspected.
_INSTEAD: Final[Mapping[State, State]] = {
    State.RELAY_STALLED: State.WAITING,
    State.NOBODY_CONSUMES: State.QUEUED,
    State.LOST: State.ELSEWHERE,
}
_OF_ONE_QUEUE: Final = ("migrate_queue", "work_off_queue")
#: In these a message left for the broker, and neither it nor a worker is where this installation looks.
_ASTRAY: Final = frozenset({State.LOST, State.ELSEWHERE})
_WITH_THE_BROKER: Final = frozenset({State.LOST, State.ELSEWHERE, State.NOBODY_CONSUMES, State.QUEUED})


def explained(conclusion: Conclusion, delivery: Delivery, facts: Facts) -> Conclusion:
    """Return the conclusion, with the cause that lies beneath it if there is one."""
    if conclusion.cause is not None or delivery.lock:  # who holds the lock is as near to the ground as can be
        return conclusion
    if conclusion.step.code in _OF_ONE_QUEUE:  # what the broker said of this queue says more than that it refuses
        return conclusion
    cause = _cause(conclusion, delivery, facts)
    if cause is None:
        return conclusion
    if cause.about.kind is Kind.WIRING and _is_missing(conclusion, delivery, facts) and _has_worker(delivery, facts):
        conclusion = replace(conclusion, state=State.ELSEWHERE)
    return _with(cause, conclusion, facts)


def _cause(conclusion: Conclusion, delivery: Delivery, facts: Facts) -> Diagnosis | None:
    """Return the cause that is nearest to the ground."""
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
            is_signer_gone=is_signer_gone(delivery, facts),
        )
    needed = [_as_victim(resource) for resource in _needed(conclusion, delivery, facts)]
    found = [
        cause
        for cause in facts.causes
        if cause.status is Status.FINDING
        and (
            (cause.stops_work and any(_explains(cause, victim, facts) for victim in needed))
            or _is_of_refused_queue(cause, conclusion, delivery)
            or (conclusion.state is State.LOST and cause.about == _EVICTED)
            or (cause.about.kind is Kind.WIRING and _is_wired_apart(cause, conclusion, delivery, facts))
        )
    ]
    known = _nearest_to_the_ground(found) or _refusal_of(conclusion, delivery)
    return known or _server_of(conclusion, delivery, facts) or _server_of_work(conclusion, delivery, facts)


def is_signer_gone(delivery: Delivery, facts: Facts) -> bool:
    """Tell whether the outbox has it, and no relay that runs has signed it."""
    sent_at = delivery.published.published_at if delivery.published else None
    return signer_is_gone(sent_at, (relay.started_at for relay in facts.of_role("relay") if relay.is_fresh))


def _refusal_of(conclusion: Conclusion, delivery: Delivery) -> Diagnosis | None:
    """Return why the database refused the last attempt a statement: the next one will meet the same."""
    return delivery.failed.refusal if delivery.failed and conclusion.state in (State.RETRYING, State.HELD) else None


def _is_of_refused_queue(cause: Diagnosis, conclusion: Conclusion, delivery: Delivery) -> bool:
    """Tell whether the relay cannot put it into its queue, and the queue itself is to blame."""
    is_unsent = conclusion.state in (State.WAITING, State.RELAY_STALLED)
    return is_unsent and cause.stops_work and cause.about == Resource(Kind.QUEUE, delivery.queue)


def _server_of(conclusion: Conclusion, delivery: Delivery, facts: Facts) -> Diagnosis | None:
    """Return the server that the consumer names, if its error says of it what no check has said yet."""
    told = delivery.held or delivery.failed
    service = next(_services(delivery, facts), None)
    if conclusion.state not in (State.RETRYING, State.HELD) or not service or not told or not told.is_transient:
        return None
    error = (delivery.failed.error_text if delivery.failed else "") or told.error_class
    return failing(service.name, error, facts.platform)


def _server_of_work(conclusion: Conclusion, delivery: Delivery, facts: Facts) -> Diagnosis | None:
    """Return the server on which the work failed, as the app's own row says: it is asked now, where it was used."""
    work = delivery.work
    if conclusion.state is not State.DEAD or delivery.dead_letter or not work or not work.service:
        return None
    return failed_on(work.service, work.detail, work.worker or delivery.queue, facts.platform)


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
    is_signer_gone: bool = False,
) -> Diagnosis | None:
    """Return what keeps the consumer of an open dead letter from its work now: a replay would die of it again.

    It died of its retries while a server that it names does no work, of a signature that another process made, or of a
    ``refusal`` (why_dead.py), the more so if that server does no work. ``is_signer_gone``: the outbox has it, and no
    relay that runs has signed it.
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
    return _nearest_to_the_ground(found) or (former_key() if is_signer_gone and reason == "bad_signature" else None)


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
        case State.DEAD:
            yield COLLECTOR
            if delivery.work is not None and delivery.work.state == "failed":
                yield from _services(delivery, facts)
        case _:
            return


def _services(delivery: Delivery, facts: Facts) -> Iterator[Resource]:
    needed = facts.needs.get(Resource(Kind.CONSUMER, delivery.consumer), ())
    yield from (resource for resource in needed if resource.kind is Kind.SERVICE)


def _as_victim(resource: Resource) -> Diagnosis:
    return Diagnosis(resource, what="", status=Status.FINDING, found="")


def _with(cause: Diagnosis, conclusion: Conclusion, facts: Facts) -> Conclusion:
    state = conclusion.state
    stands_before_it = state is State.RELAY_STALLED and cause.about.kind in (Kind.BROKER, Kind.PROCESS, Kind.QUEUE)
    sees_nobody = state is State.NOBODY_CONSUMES and cause.about.kind in (Kind.WIRING, Kind.PROCESS)
    is_only_lost = state is State.LOST and cause.about.kind not in (Kind.WIRING, Kind.QUEUE)
    if not (stands_before_it or sees_nobody or is_only_lost):
        state = _INSTEAD.get(state, state)
    return replace(
        conclusion,
        state=state,
        owner=cause.owner or facts.platform,
        step=step_of(cause),
        needs_person=True,
        detail=phrase("cause", found=cause.found),
        confidence=Confidence.LIKELY if cause.about.kind in (Kind.WIRING, Kind.SETTING) else cause.confidence,
        cause=cause,
    )


def beneath(contradiction: Diagnosis, consumer: str, facts: Facts) -> Diagnosis:
    """Return what stands before a table of the consumer's app, if anything does: it may have kept the effect away."""
    table = f"table {consumer.partition('.')[0]}_"
    guard = next((one for one in facts.guards if one.about.name.startswith(table)), None)
    return guard.with_victims((contradiction,)) if guard else contradiction


def step_of(diagnosis: Diagnosis) -> Step:
    """Return the step that mends what a diagnosis says."""
    return Step("remedy", {"remedy": diagnosis.remedy}, command=diagnosis.command, link=diagnosis.link)
