"""Who is at work: from the signs of life of workers, relays, collectors and beat (processes)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from baton_messaging.conf import baton
from baton_messaging.models.heartbeat import Heartbeat, Role
from baton_messaging.observability.prometheus.labels import CONSUMER_LABELS, QUEUE_LABELS, labels_of
from baton_messaging.observability.statistics.counts import counted_as
from baton_messaging.routing.subscriptions import all_consumers


def process_metrics() -> Iterable[Metric]:
    """Read the signs of life: one query."""
    beats = list(Heartbeat.objects.all())
    fresh = [beat for beat in beats if beat.is_fresh]
    up = GaugeMetricFamily("baton_processes_up", "Processes with a fresh sign of life", labels=("role",))
    ages = GaugeMetricFamily("baton_beat_age_seconds", "Age of the newest sign of life of a role", labels=("role",))
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
    text = "Messages that workers have in hand"
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
