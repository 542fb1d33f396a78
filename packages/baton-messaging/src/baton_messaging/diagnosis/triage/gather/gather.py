"""Learn what can be learnt about what was asked, within two seconds, and note what could not."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from django.db import OperationalError, connection, transaction

from baton_messaging.conf import Queue, Team, baton
from baton_messaging.database.errors import takes_writes
from baton_messaging.diagnosis.triage.facts import TAKES_NO_WRITES, Delivery, Facts, QueueLook, Reach, Subject
from baton_messaging.diagnosis.triage.gather.broker import look_at_broker
from baton_messaging.diagnosis.triage.gather.deliveries import deliveries_of
from baton_messaging.diagnosis.triage.gather.snapshot import Looks, all_queues, look
from baton_messaging.diagnosis.triage.lookup import Asked
from baton_messaging.diagnosis.triage.subjects import find_subjects
from baton_messaging.routing.ownership import platform_owner

STATEMENT_MS: Final = 1_500  # of one statement
LOCK_MS: Final = 500  # a lock that a migration holds is reported, not waited for
CONNECT_SECONDS: Final = 1.0
DAY_SECONDS: Final = 86_400


def gather(asks: Sequence[Asked]) -> list[Facts]:
    """Return the facts about each, from looks that all share. Inside ``impatient()``. Raises the database's errors."""
    looks = look(asks)
    subjects = find_subjects({asked.key: asked.events for asked in asks if asked.is_subject})
    return [_facts(asked, looks, subjects.get(asked.key, ())) for asked in asks]


@contextmanager
def impatient() -> Iterator[None]:
    """Let no statement inside wait for longer than an answer may take. Raises OperationalError."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {STATEMENT_MS}; SET LOCAL lock_timeout = {LOCK_MS}")
        yield


def reach_after(error: OperationalError) -> Reach:
    """Return what a failure while looking says of the database."""
    return Reach(False, type(error.__cause__ or error).__name__)


def database_reach() -> Reach:
    """Tell whether the database answers and takes writes, without waiting for one that does not."""
    error: list[str] = []
    answered = threading.Event()

    def ask() -> None:
        own = connection.copy()
        own.settings_dict["OPTIONS"] = {**own.settings_dict["OPTIONS"], "connect_timeout": CONNECT_SECONDS}
        try:
            if takes_writes(own):
                answered.set()
            else:
                error.append(TAKES_NO_WRITES)
        except Exception as failure:  # whatever it is, the caller is told
            error.append(type(failure).__name__)
        finally:
            own.close()

    asking = threading.Thread(target=ask, name="triage-database", daemon=True)
    asking.start()
    asking.join(CONNECT_SECONDS)
    if answered.is_set():
        return Reach()
    return Reach(False, error[0] if error else f"no answer within {CONNECT_SECONDS:g} s")


def without_database(reach: Reach) -> Facts:
    """Return what can be said without the database: what the broker says."""
    broker = look_at_broker(all_queues(), ())
    depths = {name: QueueLook(depth.waiting) for name, depth in broker.depths.items()}
    return Facts(datetime.now(UTC), platform_owner(), queues=depths, broker=broker.reach, database=reach)


def _facts(asked: Asked, looks: Looks, subjects: tuple[Subject, ...]) -> Facts:
    deliveries = tuple(deliveries_of(asked, looks))
    return Facts(
        now=looks.now,
        platform=platform_owner(),
        key=asked.key,
        events=asked.events,
        subjects=subjects,
        deliveries=_with_works(deliveries, subjects),
        processes=looks.processes,
        queues=looks.queues,
        owners=_owners(),
        platform_queue=baton().platform_queue,
        retention_seconds=baton().outbox_retention_days * DAY_SECONDS,
        is_broker_full=looks.is_broker_full,
        broker=looks.broker.reach,
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
