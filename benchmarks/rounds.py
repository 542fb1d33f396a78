"""How often both sides are measured: the machine is noisy, so each runs several times, in changing order."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

Side = TypeVar("Side")


@dataclass(frozen=True)
class Rounds:
    """At most ``max_count`` rounds, none of which begins after ``max_seconds``: a busy machine gets fewer."""

    max_count: int
    max_seconds: float

    def of(self, sides: Sequence[Side]) -> Iterator[Side]:
        """Yield all sides once a round, every other round in reverse: what drifts hits both ends alike."""
        started = time.monotonic()
        for number in range(self.max_count):
            if number and time.monotonic() - started > self.max_seconds:
                return
            yield from reversed(sides) if number % 2 else sides
