"""A catalogue holds faults with the truth about each: what triage must say, and whom it must name."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from baton_messaging.diagnosis.triage.verdict import State

from baton_dev.blame.stack import Stack

Broker = Literal["redis", "rabbitmq"]
AnyStack = TypeVar("AnyStack", bound=Stack)


@dataclass(frozen=True)
class Question:
    """What is asked while the fault is there: about an id, and there about one consumer ("" for the row itself)."""

    id: str
    consumer: str


@dataclass(frozen=True)
class Fault:
    """``inject`` brings it about, yields the question once it has taken effect, and heals what ``mend`` does not.

    ``says`` is a word that state or evidence must contain. ``only``: the one broker that can have the fault. Short
    faults are those of the tests, pairs are two faults at a time.
    """

    name: str
    inject: Callable[[Any], AbstractContextManager[Question]]  # of the suite's own stack
    state: State
    owner: str
    on_rabbitmq: State | None = None
    says: str = ""
    only: Broker | Literal[""] = ""
    is_short: bool = False
    is_pair: bool = False

    def expected(self, stack: Stack) -> State:
        """Return the true state on this broker."""
        return self.on_rabbitmq if stack.is_rabbitmq and self.on_rabbitmq else self.state


FAULTS: list[Fault] = []  # one suite's: two never meet in one process


def faults_on(broker: str) -> list[Fault]:
    """Return the faults that a system with this broker can have."""
    return [fault for fault in FAULTS if fault.only in ("", broker)]


def fault(
    name: str,
    state: State,
    owner: str,
    *,
    on_rabbitmq: State | None = None,
    says: str = "",
    only: Broker | Literal[""] = "",
    short: bool = False,
    pair: bool = False,
) -> Callable[[Callable[[AnyStack], Iterator[Question]]], Callable[[AnyStack], Iterator[Question]]]:
    """Put a fault into the catalogue."""

    def declare(inject: Callable[[AnyStack], Iterator[Question]]) -> Callable[[AnyStack], Iterator[Question]]:
        FAULTS.append(Fault(name, contextmanager(inject), state, owner, on_rabbitmq, says, only, short, pair))
        return inject

    return declare
