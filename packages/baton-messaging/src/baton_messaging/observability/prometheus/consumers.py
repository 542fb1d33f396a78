"""Metrics of consumers: counters and histograms, from totals that never go down (observability/statistics).

Every consumer has its series from the first scrape on, at zero: Prometheus cannot see the step from nothing to one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from django.db.models import Count
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

from baton_messaging.models import DeadLetter, Expiry, Recovery, Rollup
from baton_messaging.models.dead_letter import RELAY, Reason
from baton_messaging.observability.prometheus.sources import CONSUMER_LABELS, labels_of
from baton_messaging.observability.statistics.counts import counted_as
from baton_messaging.observability.statistics.histogram import DURATION_BOUNDS, LAG_BOUNDS, cumulated
from baton_messaging.observability.statistics.totals import Figures, totals
from baton_messaging.routing.subscriptions import all_consumers

_COUNTERS: Final = (
    ("baton_messages_processed", "Messages whose effect was committed", "processed_count"),
    ("baton_attempts_failed", "Runs of a handler that failed, whatever came of it", "failed_count"),
    ("baton_attempts_retried", "Failed runs that another one follows", "retried_count"),
    ("baton_messages_redelivered", "Deliveries to a worker that were not the first", "redelivered_count"),
)


def consumer_metrics() -> Iterable[Metric]:
    """Read the totals, and which dead letters wait for a person: five queries."""
    found = {consumer: Figures() for consumer in (*all_consumers(), RELAY)} | totals()
    for name, text, field in _COUNTERS:
        counter = CounterMetricFamily(name, text, labels=CONSUMER_LABELS)
        for consumer, figures in found.items():
            counter.add_metric(labels_of(consumer), getattr(figures, field))
        yield counter
    yield _recovered(found)
    yield _expired()
    yield _deaths(found)
    yield _histogram(
        "baton_handler_duration_seconds",
        "How long handlers ran; of a list handled together, its time for each message",
        found,
        lambda figures: (figures.duration_counts, figures.duration_seconds),
        DURATION_BOUNDS,
    )
    yield _histogram(
        "baton_message_lag_seconds",
        "From the event to the commit of its effect",
        found,
        lambda figures: (figures.lag_counts, figures.lag_seconds),
        LAG_BOUNDS,
    )
    yield _open_letters(found)
    age_seconds = Rollup.objects.age_seconds()
    if age_seconds is not None:
        yield GaugeMetricFamily(
            "baton_rollup_age_seconds", "Since the counters were brought up to date", value=age_seconds
        )


def _recovered(found: Iterable[str]) -> Metric:
    text = "Messages that the broker had lost and the reconciler sent again"
    counter = CounterMetricFamily("baton_messages_recovered", text, labels=CONSUMER_LABELS)
    counts = dict.fromkeys(found, 0) | dict(Recovery.objects.values_list("consumer", "message_count"))
    for consumer, count in counts.items():
        counter.add_metric(labels_of(consumer), count)
    return counter


def _expired() -> Metric:
    text = "Ticks and plain tasks whose own time was over before a worker had any for them"
    counter = CounterMetricFamily("baton_tasks_expired", text, labels=("task",))
    for task, count in Expiry.objects.values_list("task", "message_count"):
        counter.add_metric((task,), count)
    return counter


def _deaths(found: dict[str, Figures]) -> Metric:
    counter = CounterMetricFamily("baton_messages_dead", "Messages that died", labels=(*CONSUMER_LABELS, "reason"))
    for consumer, figures in found.items():
        for reason in Reason.values:
            counter.add_metric((*labels_of(consumer), reason), figures.dead_counts[reason])
    return counter


def _histogram(
    name: str,
    text: str,
    found: dict[str, Figures],
    part: Callable[[Figures], tuple[Sequence[int], float]],
    bounds: Sequence[float],
) -> Metric:
    family = HistogramMetricFamily(name, text, labels=CONSUMER_LABELS)
    names = [*(f"{bound:g}" for bound in bounds), "+Inf"]
    for consumer, figures in found.items():
        counts, seconds = part(figures)
        family.add_metric(labels_of(consumer), list(zip(names, cumulated(counts, bounds), strict=True)), seconds)
    return family


def _open_letters(found: Iterable[str]) -> Metric:
    text = "Dead letters that wait for a person"
    gauge = GaugeMetricFamily("baton_dead_letters_open", text, labels=CONSUMER_LABELS)
    counts: Counter[str] = Counter(dict.fromkeys(found, 0))
    grouped = DeadLetter.objects.open().order_by().values_list("consumer").annotate(Count("pk"))
    for consumer, count in grouped:
        counts[counted_as(consumer)] += count
    for consumer, count in counts.items():
        gauge.add_metric(labels_of(consumer), count)
    return gauge
