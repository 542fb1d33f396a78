"""Metrics of this moment: what waits in outbox, queues and retries, what is held, and which processes live."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from baton_messaging.broker.inspect.snapshot import depths_in_time
from baton_messaging.conf import Queue, baton
from baton_messaging.models import Attempt, Circuit, Pause
from baton_messaging.models.heartbeat import Heartbeat, Role
from baton_messaging.observability.prometheus.sources import CONSUMER_LABELS, QUEUE_LABELS, labels_of
from baton_messaging.observability.statistics.counts import counted_as
from baton_messaging.observability.statistics.outbox import outbox_standing
from baton_messaging.routing.ownership import platform_owner
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE
from baton_messaging.routing.subscriptions import all_consumers


def outbox_metrics() -> Iterable[Metric]:
    """Read what the broker does not have yet, and how old it is: one query."""
    standing = outbox_standing()
    for name, text, value in (
        ("baton_outbox_waiting", "Outbox rows that the broker has not confirmed", standing.waiting_count),
        ("baton_outbox_oldest_age_seconds", "Age of the oldest of them, 0 without any", standing.oldest_age_seconds),
        ("baton_outbox_lag_seconds", "From commit to broker, mean of the newest 1,000 rows", standing.lag_seconds),
    ):
        yield GaugeMetricFamily(name, text, value=value)


def broker_metrics() -> Iterable[Metric]:
    """Ask the broker how deep its queues are. It may not answer: then only that is said."""
    queues = [*baton().queues, Queue(DEAD_LETTER_QUEUE, owner=platform_owner())]
    found = depths_in_time([queue.name for queue in queues])
    yield GaugeMetricFamily("baton_broker_up", "1 if the broker answered in time", value=int(found is not None))
    if found is None:
        return
    text = "Messages of the broker, several events in one where they are bundled"
    depth = GaugeMetricFamily("baton_queue_depth", text, labels=(*QUEUE_LABELS, "state"))
    for queue in queues:
        depth.add_metric((queue.name, queue.owner.name, "waiting"), found[queue.name].waiting)
        taken = found[queue.name].taken
        if taken is not None:  # RabbitMQ does not tell: baton_messages_in_flight does
            depth.add_metric((queue.name, queue.owner.name, "taken"), taken)
    yield depth


def held_metrics() -> Iterable[Metric]:
    """Read what waits in the database, and whether a breaker or a person holds it: three queries."""
    waiting = Attempt.objects.waiting_by_consumer()
    yield _by_consumer("baton_retries_waiting", "Retries that are not sent yet, those held back included", waiting)
    circuits = Counter(Circuit.objects.open().values_list("consumer", flat=True))
    yield _by_consumer("baton_circuit_open", "1 while a breaker lets one message through at a time", circuits)
    pauses = Counter(Pause.objects.in_force().values_list("consumer", flat=True))
    key_count = pauses.pop("", 0)
    yield _by_consumer("baton_consumer_paused", "1 while a person holds the consumer back", pauses)
    yield GaugeMetricFamily("baton_keys_paused", "Keys of an event that a person holds back", value=key_count)


def _by_consumer(name: str, text: str, counts: Mapping[str, int]) -> Metric:
    gauge = GaugeMetricFamily(name, text, labels=CONSUMER_LABELS)
    for consumer in sorted({*all_consumers(), *counts}):
        gauge.add_metric(labels_of(consumer), counts.get(consumer, 0))
    return gauge


def process_metrics() -> Iterable[Metric]:
    """Read the heartbeats: one query."""
    beats = list(Heartbeat.objects.all())
    fresh = [beat for beat in beats if beat.is_fresh]
    up = GaugeMetricFamily("baton_processes_up", "Processes with a fresh heartbeat", labels=("role",))
    ages = GaugeMetricFamily("baton_beat_age_seconds", "Age of the newest heartbeat of a role", labels=("role",))
    for role in Role.values:
        up.add_metric((role,), sum(beat.role == role for beat in fresh))
        newest = min((beat.age_seconds for beat in beats if beat.role == role), default=None)
        if newest is not None:
            ages.add_metric((role,), newest)
    yield up
    yield ages
    workers = GaugeMetricFamily("baton_queue_workers", "Workers that take from the queue", labels=QUEUE_LABELS)
    for queue in baton().queues:
        taking = sum(queue.name in beat.queues and beat.is_consuming for beat in fresh)
        workers.add_metric((queue.name, queue.owner.name), taking)
    yield workers
    yield _in_flight(fresh)


def _in_flight(beats: Sequence[Heartbeat]) -> Metric:
    text = "Messages that workers have in flight"
    gauge = GaugeMetricFamily("baton_messages_in_flight", text, labels=(*CONSUMER_LABELS, "state"))
    for state in ("running", "reserved"):
        counts: Counter[str] = Counter()
        for beat in beats:
            counts += _message_counts(getattr(beat, state))
        for consumer in sorted({*all_consumers(), *counts}):
            gauge.add_metric((*labels_of(consumer), state), counts[consumer])
    return gauge


def _message_counts(entries: Iterable[dict[str, Any]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for entry in entries:
        counts[counted_as(entry["consumer"])] += len(entry["message_ids"])
    return counts
