"""The picture of the pipeline at this moment: a station for each place where a message can be, with what is there.

A fixed number of queries and one look at the broker, which may not answer: then the stations behind it say so, and all
others are as true as ever.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.utils import timezone

from baton_messaging.broker.inspect.depth import Depth
from baton_messaging.broker.inspect.snapshot import depths_in_time
from baton_messaging.conf import Queue, baton
from baton_messaging.models import Attempt, Circuit, DeadLetter, Pause
from baton_messaging.models.heartbeat import Heartbeat
from baton_messaging.observability.statistics.counts import UNKNOWN, counted_as
from baton_messaging.observability.statistics.outbox import OutboxStanding, outbox_standing
from baton_messaging.routing.ownership import queue_or_platforms
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE
from baton_messaging.routing.subscriptions import all_consumers
from baton_messaging.ui.board.pace import Pace, paces


@dataclass(frozen=True)
class ConsumerStation:
    """Where the messages of one consumer end: done, retrying or dead."""

    name: str
    pace: Pace
    running_count: int
    retrying_count: int
    dead_count: int
    circuit: Circuit | None
    pause: Pause | None

    @property
    def is_known(self) -> bool:
        """Tell whether it is one consumer, not all those that this release does not have."""
        return self.name != UNKNOWN

    @property
    def is_in_trouble(self) -> bool:
        """Tell whether somebody should look."""
        return bool(self.dead_count or self.circuit)

    @property
    def is_idle(self) -> bool:
        """Tell whether there is nothing to say: no work in an hour, none under way, and nothing wrong."""
        pace = self.pace
        return not (
            pace.processed_count
            or pace.failed_count
            or self.running_count
            or self.retrying_count
            or self.is_in_trouble
            or self.pause
        )


@dataclass(frozen=True)
class Lane:
    """A queue, the workers that take from it, and the consumers it feeds."""

    queue: Queue
    depth: Depth | None
    taken_count: int
    worker_count: int
    consumers: Sequence[ConsumerStation]

    @property
    def busy_consumers(self) -> list[ConsumerStation]:
        """Return those that have figures to show."""
        return [consumer for consumer in self.consumers if not consumer.is_idle]

    @property
    def idle_consumers(self) -> list[ConsumerStation]:
        """Return those that are only named."""
        return [consumer for consumer in self.consumers if consumer.is_idle]


@dataclass(frozen=True)
class Picture:
    """All stations. ``depths`` is None when the broker did not answer."""

    outbox: OutboxStanding
    depths: Mapping[str, Depth] | None
    lanes: Sequence[Lane]
    processes: Sequence[Heartbeat]
    up_counts: Mapping[str, int]
    pauses: Sequence[Pause]
    circuits: Sequence[Circuit]
    dead_count: int

    @property
    def is_broker_up(self) -> bool:
        """Tell whether the broker answered in time."""
        return self.depths is not None

    @property
    def depth(self) -> int:
        """Return how many messages the broker has, waiting or taken."""
        return sum(depth.total for name, depth in (self.depths or {}).items() if name != DEAD_LETTER_QUEUE)

    @property
    def dead_letter_depth(self) -> int:
        """Return how many dead messages the collector has not fetched yet."""
        return self.depths[DEAD_LETTER_QUEUE].total if self.depths else 0


def picture() -> Picture:
    """Return the pipeline as it is now."""
    queues: Sequence[Queue] = baton().queues
    depths = depths_in_time([*(queue.name for queue in queues), DEAD_LETTER_QUEUE])
    processes = list(Heartbeat.objects.order_by("role", "name"))
    fresh = [beat for beat in processes if beat.is_fresh]
    pauses, circuits = list(Pause.objects.in_force().order_by("pk")), list(Circuit.objects.open().order_by("consumer"))
    dead = _dead_counts()
    stations = _stations(dead, fresh, pauses, circuits)
    return Picture(
        outbox=outbox_standing(),
        depths=depths,
        lanes=[_lane(queue, depths, fresh, stations) for queue in queues],
        processes=processes,
        up_counts=Counter(str(beat.role) for beat in fresh),
        pauses=pauses,
        circuits=circuits,
        dead_count=sum(dead.values()),
    )


def _dead_counts() -> Counter[str]:
    """Count the open dead letters by consumer; those of made-up names together, or they would fill the page."""
    counts = Counter[str]()
    for consumer, count in DeadLetter.objects.open().order_by().values_list("consumer").annotate(Count("pk")):
        counts[counted_as(consumer)] += count
    return counts


def _stations(
    dead: Mapping[str, int], fresh: Iterable[Heartbeat], pauses: Iterable[Pause], circuits: Iterable[Circuit]
) -> list[ConsumerStation]:
    paused = {pause.consumer: pause for pause in pauses}
    opened = {circuit.consumer: circuit for circuit in circuits}
    retrying, pace = Attempt.objects.waiting_by_consumer(), paces(timezone.now())
    running = Counter[str]()
    for beat in fresh:
        for entry in beat.running:
            running[entry["consumer"]] += len(entry["message_ids"])
    return [
        ConsumerStation(
            name=name,
            pace=pace.get(name, Pace()),
            running_count=running[name],
            retrying_count=retrying.get(name, 0),
            dead_count=dead.get(name, 0),
            circuit=opened.get(name),
            pause=paused.get(name),
        )
        for name in sorted({*all_consumers(), *retrying, *dead})
    ]


def _lane(
    queue: Queue, depths: Mapping[str, Depth] | None, fresh: Iterable[Heartbeat], stations: Iterable[ConsumerStation]
) -> Lane:
    taking = [beat for beat in fresh if queue.name in beat.queues]
    in_flight = sum(len(beat.running) + len(beat.reserved) for beat in taking)
    depth = depths[queue.name] if depths else None
    return Lane(
        queue=queue,
        depth=depth,
        taken_count=in_flight if depth is None or depth.taken is None else depth.taken,
        worker_count=sum(beat.is_consuming for beat in taking),
        consumers=[station for station in stations if queue_or_platforms(station.name).name == queue.name],
    )
