"""A world in which all is well, as facts; each test changes one thing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from baton_messaging.conf import Team
from baton_messaging.diagnosis.triage.delivery_facts import (
    DeadLetterFacts,
    Delivery,
    Failed,
    Limits,
    Processed,
    Published,
    Sighting,
)
from baton_messaging.diagnosis.triage.facts import Facts, QueueSnapshot, Subject
from baton_messaging.diagnosis.triage.process_facts import InFlight, Process

NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
CARE, PLATFORM, SHOP = (Team(name, f"{name.lower()}@example.com") for name in ("Care", "Platform", "Shop"))
MESSAGE_ID = UUID("0190d3c2-7a00-7000-8000-000000000001")


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def process(role: str, **changes: Any) -> Process:
    queues = ("mail",) if role == "worker" else ()
    living = Process(f"{role}@host", role, ago(2), is_fresh=True, is_consuming=True, queues=queues)
    return replace(living, **changes)


WORKER, RELAY, COLLECTOR, BEAT = (
    process(role, last_finished_at=ago(3)) for role in ("worker", "relay", "collector", "beat")
)
HOUSEKEEPER = process("worker", name="baton@host", queues=("baton",))
SILENT = {"is_fresh": False, "beaten_at": ago(60)}
UNSENT = Published(ago(60), available_at=ago(60))
SENT = Published(ago(60), ago(59), is_sent=True)
DONE = Processed(ago(2), 12, "worker@host")
FAILED = Failed(2, "MailUnavailable", ago(20), NOW + timedelta(seconds=30))
AGAIN = replace(FAILED, sent_at=ago(10))
AGAIN_IN_QUEUE: dict[str, Any] = {"failed": AGAIN, "seen": Sighting("queue", 214, delivery_count=2)}
OPEN = DeadLetterFacts(7, "open", "retries_spent", "MailUnavailable", ago(5), 8)
EMPTY = {"mail": QueueSnapshot(0, is_complete=True, taken_count=0)}
AMONG_OTHERS = {"mail": QueueSnapshot(3, is_complete=True, taken_count=0)}
OLD = replace(SENT, published_at=ago(300))
UNCOLLECTED = {"dead_letters": QueueSnapshot(2, is_complete=True, taken_count=0)}
ORDER = Subject("order", "42", "shop", "shop.order_placed", created_at=ago(60), awaited=("stock.reserved",))


def delivery(**changes: Any) -> Delivery:
    return replace(
        Delivery("mail.send", "shop.order_placed", MESSAGE_ID, "mail", CARE, Limits(8, 40, 600), published=SENT),
        **changes,
    )


def facts(*deliveries: Delivery, without: tuple[Process, ...] = (), **changes: Any) -> Facts:
    processes = tuple(one for one in (WORKER, HOUSEKEEPER, RELAY, COLLECTOR, BEAT) if one not in without)
    world = Facts(
        NOW,
        PLATFORM,
        key="42",
        events=frozenset({"shop.order_placed"}),
        subjects=(ORDER,),
        deliveries=deliveries,
        processes=processes,
        queues={"mail": QueueSnapshot(214, is_complete=True)},
        owners={"shop": SHOP, "stock": CARE},
        platform_queue="baton",
        retention_seconds=86_400,
    )
    return replace(world, **changes)


def hand(worker: Process = WORKER, *, since: float | None = 3) -> InFlight:
    return InFlight(worker, None if since is None else ago(since))
