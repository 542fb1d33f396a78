"""Facts about what was looked up, gathered within two seconds; what could not be learnt is noted in them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from baton_messaging.conf import Queue, Team, baton
from baton_messaging.diagnosis.servers.diagnose import diagnose
from baton_messaging.diagnosis.triage.delivery_facts import Delivery
from baton_messaging.diagnosis.triage.facts import Facts, QueueSnapshot, Reach, Subject
from baton_messaging.diagnosis.triage.gather.deliveries import deliveries_of, needs_of
from baton_messaging.diagnosis.triage.gather.reach import heard, read_only_cause
from baton_messaging.diagnosis.triage.gather.servers import ask_servers
from baton_messaging.diagnosis.triage.gather.snapshot import Snapshot, all_queues, take_snapshot
from baton_messaging.diagnosis.triage.lookup import Lookup
from baton_messaging.diagnosis.triage.subjects import find_subjects
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.own_time import OwnTime
from baton_messaging.health.resource import Kind
from baton_messaging.health.run import run_checks
from baton_messaging.routing.ownership import platform_owner

DAY_SECONDS: Final = 86_400
#: For the servers when the database has used up its second without an answer.
REST_SECONDS: Final = 0.8
#: When they were asked before a table turned out to be locked, which took its time.
LOCKED_SECONDS: Final = 0.3
#: For a storage that a failed export names.
SERVICES_SECONDS: Final = 0.4


def gather(lookups: Sequence[Lookup]) -> list[Facts]:
    """Return the facts about each, from one snapshot. Inside ``statement_deadline()``. Raises the database's errors."""
    snapshot = take_snapshot(lookups)
    causes = _with_read_only(snapshot.servers.causes)
    subjects = find_subjects({lookup.key: lookup.events for lookup in lookups if lookup.is_subject})
    causes = (*causes, *_of_failed_works(causes, [one for found in subjects.values() for one in found]))
    return [_facts(lookup, snapshot, causes, subjects.get(lookup.key, ())) for lookup in lookups]


def _of_failed_works(causes: Sequence[Diagnosis], subjects: Sequence[Subject]) -> list[Diagnosis]:
    """Ask the servers on which works failed, as their rows say, how they do now: the row has a word, not the words."""
    failed = {work.service for one in subjects for work in one.works.values() if work.state == "failed"}
    names = sorted(failed - {"", *(cause.about.name for cause in causes if cause.about.kind is Kind.SERVICE)})
    healths = run_checks(names, deadline_seconds=SERVICES_SECONDS) if names else []
    found = [diagnosis for health in healths for diagnosis in diagnose(health)]
    return [one for one in found if one.status is Status.FINDING and one.stops_work]


def _with_read_only(causes: tuple[Diagnosis, ...]) -> tuple[Diagnosis, ...]:
    """Add that the database takes no writes, where the look at it has not said so: its rows can still be read."""
    if any(cause.about.kind is Kind.DATABASE for cause in causes):
        return causes
    cause = read_only_cause()
    return (cause, *causes) if cause else causes


def without_database(reach: Reach, own_time: OwnTime) -> Facts:
    """Return what can be said without the database: what the broker says. ``own_time``: since it was asked."""
    seconds = LOCKED_SECONDS if reach.locked else REST_SECONDS
    servers = ask_servers(all_queues(), seconds=seconds)
    reach = heard(reach, own_time)
    is_known = any(cause.about.kind is Kind.DATABASE for cause in servers.causes)
    return Facts(
        datetime.now(UTC),
        platform_owner(),
        queues={name: QueueSnapshot(depth.waiting) for name, depth in servers.broker.depths.items()},
        broker=servers.broker.reach,
        database=reach,
        causes=servers.causes if is_known or not reach.cause else (reach.cause, *servers.causes),
    )


def _facts(lookup: Lookup, snapshot: Snapshot, causes: tuple[Diagnosis, ...], subjects: tuple[Subject, ...]) -> Facts:
    deliveries = tuple(deliveries_of(lookup, snapshot))
    return Facts(
        now=snapshot.now,
        platform=platform_owner(),
        key=lookup.key,
        events=lookup.events,
        later=tuple((row.name, row.due_at) for row in lookup.later),
        subjects=subjects,
        deliveries=_with_works(deliveries, subjects),
        processes=snapshot.processes,
        ended=snapshot.ended,
        queues=snapshot.queues,
        owners=_owners(),
        platform_queue=baton().platform_queue,
        retention_seconds=baton().outbox_retention_days * DAY_SECONDS,
        is_broker_full=snapshot.is_broker_full,
        broker=snapshot.servers.broker.reach,
        causes=causes,
        contradictions=snapshot.servers.contradictions.get(lookup.key, ()),
        checked_consumers=snapshot.servers.checked_consumers,
        needs=needs_of({delivery.consumer for delivery in deliveries}, snapshot.processes),
    )


def _with_works(deliveries: Sequence[Delivery], subjects: Sequence[Subject]) -> tuple[Delivery, ...]:
    """Add what the apps' rows say, to the last message of each consumer: it is the one that counts."""
    works = {consumer: work for subject in subjects for consumer, work in subject.works.items()}
    found: list[Delivery] = []
    for delivery in reversed(deliveries):
        work = works.pop(delivery.consumer, None)
        found.append(replace(delivery, work=work) if work else delivery)
    return tuple(reversed(found))


def _owners() -> dict[str, Team]:
    queues: Sequence[Queue] = baton().queues
    return {queue.name: queue.owner for queue in queues}
