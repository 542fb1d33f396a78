"""A resource is what a diagnosis is about; what depends on what says who is at fault, and who only waits.

The graph is small and fixed: a message needs its consumer, a consumer its queue's workers and what it names itself
(``depends_on``), a process the database, the broker and its machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What a resource is, from the ground up."""

    MACHINE = "machine"
    DATABASE = "database"
    BROKER = "broker"
    SERVICE = "service"  # mail, storage, any other server that an app works with; by name
    WIRING = "wiring"  # which servers, keys and release a process has
    PROCESS = "process"  # by the name of its heartbeat
    ROLE = "role"  # relay, collector, beat, web
    QUEUE = "queue"  # with the workers that consume it
    CONSUMER = "consumer"
    SETTING = "setting"
    DATA = "data"  # rows: dead letters, pauses, contradictions


#: Each kind with the kinds that it needs to do its work. Of SERVICE only those count that the consumer names.
NEEDS: Final = {
    Kind.MACHINE: (),
    Kind.DATABASE: (),
    Kind.BROKER: (),
    Kind.SERVICE: (),
    Kind.WIRING: (),
    Kind.PROCESS: (Kind.MACHINE, Kind.DATABASE, Kind.BROKER),
    Kind.ROLE: (Kind.PROCESS, Kind.DATABASE, Kind.BROKER),
    Kind.QUEUE: (Kind.PROCESS, Kind.DATABASE, Kind.BROKER),
    Kind.CONSUMER: (Kind.QUEUE, Kind.SERVICE),
    Kind.SETTING: (),
    Kind.DATA: (),
}


@dataclass(frozen=True, order=True)
class Resource:
    """One of a kind. ``name`` is empty where there is only one."""

    kind: Kind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


DATABASE: Final = Resource(Kind.DATABASE)
BROKER: Final = Resource(Kind.BROKER)


def kinds_needed_by(kind: Kind) -> Iterator[Kind]:
    """Return every kind that it needs, the nearest first, each once.

    >>> [str(kind) for kind in kinds_needed_by(Kind.ROLE)]
    ['process', 'database', 'broker', 'machine']
    """
    found: dict[Kind, None] = {}
    waiting = list(NEEDS[kind])
    while waiting:
        nearest = waiting.pop(0)
        if nearest not in found:
            found[nearest] = None
            waiting.extend(NEEDS[nearest])
    yield from found
