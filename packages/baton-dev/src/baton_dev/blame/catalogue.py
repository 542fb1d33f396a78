"""A catalogue holds faults with the truth about each, said once; every view is compared with it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

from baton_messaging.diagnosis.triage.verdict import State

from baton_dev.blame.stack import Stack

Broker = Literal["redis", "rabbitmq"]
Alive = Literal["alive", "cannot tell", "dead"]
AnyStack = TypeVar("AnyStack", bound=Stack)
EVERYBODY: Final = ("*",)


@dataclass(frozen=True)
class Question:
    """What is asked while the fault is there: about an id, and there about one consumer ("" for the row itself)."""

    id: str
    consumer: str


@dataclass(frozen=True)
class Truth:
    """What is true of a fault. Patterns are regular expressions, sought without regard to case; "" asks for nothing.

    Of ``states`` each is right. ``says``: each must be found in state, evidence or cause of triage. ``step``: in its
    next step. ``doctor``: in what doctor finds, with the same owner. ``victims``: processes that only wait for somebody
    else (EVERYBODY: all of them), so that neither doctor nor board may tell to start them, and `alive` may not call
    them dead. ``alive``: what `alive` must say of a process, by its name in the stack.
    """

    states: tuple[State, ...]
    owner: str
    on_rabbitmq: State | None = None
    says: tuple[str, ...] = ()
    step: str = ""
    doctor: str = ""
    victims: tuple[str, ...] = ()
    alive: Mapping[str, Alive] = field(default_factory=dict)

    def states_on(self, stack: Stack) -> tuple[State, ...]:
        """Return the true states on the stack's broker."""
        return (self.on_rabbitmq,) if stack.is_rabbitmq and self.on_rabbitmq else self.states

    def victims_in(self, stack: Stack) -> tuple[str, ...]:
        """Return the names of the processes that only wait."""
        return tuple(stack.names) if self.victims == EVERYBODY else self.victims


@dataclass(frozen=True)
class Fault:
    """``room`` is the module that it stands in. ``inject`` brings it about, yields the question once it has taken
    effect, and heals what ``mend`` does not.

    ``only``: the one broker that can have the fault. Short faults are those of the tests, pairs are two at a time.
    """

    name: str
    room: str
    inject: Callable[[Any], AbstractContextManager[Question]]  # of the suite's own stack
    truth: Truth
    only: Broker | Literal[""] = ""
    is_short: bool = False
    is_pair: bool = False


FAULTS: list[Fault] = []  # one suite's: two never meet in one process


def faults_on(broker: str) -> list[Fault]:
    """Return the faults that a system with this broker can have."""
    return [fault for fault in FAULTS if fault.only in ("", broker)]


def fault(
    name: str,
    state: State | tuple[State, ...],
    owner: str,
    *,
    on_rabbitmq: State | None = None,
    says: str | tuple[str, ...] = (),
    step: str = "",
    doctor: str = "",
    victims: tuple[str, ...] = (),
    alive: Mapping[str, Alive] | None = None,
    only: Broker | Literal[""] = "",
    short: bool = False,
    pair: bool = False,
) -> Callable[[Callable[[AnyStack], Iterator[Question]]], Callable[[AnyStack], Iterator[Question]]]:
    """Put a fault into the catalogue."""
    said = (says,) if isinstance(says, str) else says
    states = state if isinstance(state, tuple) else (state,)
    truth = Truth(states, owner, on_rabbitmq, said, step, doctor, victims, alive or {})

    def declare(inject: Callable[[AnyStack], Iterator[Question]]) -> Callable[[AnyStack], Iterator[Question]]:
        room = inject.__module__.rpartition(".")[2]
        FAULTS.append(Fault(name, room, contextmanager(inject), truth, only, short, pair))
        return inject

    return declare
