"""Messages to the sample consumer that most faults befall, and the owners that triage must name."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any, Final, Literal
from uuid import uuid4

from baton_dev.blame.catalogue import EVERYBODY, Broker, Question, fault
from baton_dev.blame.effects import place, until_published
from baton_dev.blame.servers import close_connections
from baton_dev.blame.stack import Stack
from baton_messaging.diagnosis.triage.verdict import State
from django.db import DatabaseError, connection

from tests.sample.events import Sampled

PLATFORM: Final = "Platform team"
SAMPLE: Final = "Sample team"
BLAME: Final = "Blame team"
TAKE_ONE: Final = "sample.take_one"
#: Of a message that does not get to the broker, or whose state nobody can look up. What matters is the cause.
STUCK: Final = (State.RELAY_STALLED, State.WAITING, State.UNKNOWN)


def ordinary() -> Question:
    """Publish a message whose consumer does as it should."""
    return place(Sampled(sample_id=uuid4()), TAKE_ONE)


def told_to(behaviour: str, seconds: float = 0) -> Question:
    """Publish a message whose consumer misbehaves."""
    return place(Sampled(sample_id=uuid4(), behaviour=behaviour, seconds=seconds), TAKE_ONE)


def sent(stack: Stack) -> Question:
    """Publish a message, and wait until it has left the outbox."""
    question = ordinary()
    until_published(stack, question)
    return question


def in_a_queue(stack: Stack) -> Question:
    """Leave a message in the queue of a worker that is not there."""
    stack.stop("sample")
    return sent(stack)


def worker_again(stack: Stack) -> None:
    """Let the usual worker run, beside whatever has taken the message."""
    stack.start("sample")
    stack.wait(lambda: stack.lives("sample"), what="a worker")


@contextmanager
def otherwise(stack: Stack, part: str, **environment: str) -> Iterator[None]:
    """Run a process with another environment than all others."""
    stack.restart(part, **environment)
    try:
        yield
    finally:
        stack.stop(part)


@contextmanager
def in_the_outbox(stack: Stack) -> Iterator[Question]:
    """Leave a message in the outbox while a fault comes about: the relay is held still, and meets it afterwards."""
    pid = stack.processes["relay"].pid
    os.killpg(pid, signal.SIGSTOP)
    try:
        yield ordinary()
    finally:
        os.killpg(pid, signal.SIGCONT)


def met_by_the_relay(stack: Stack, fault: AbstractContextManager[Any], *, anew: bool = False) -> Iterator[Question]:
    """Let the fault come about between a commit and the relay's look at the outbox, and wait until it has shown.

    ``anew``: what has a connection to the broker must open another one.
    """
    with ExitStack() as healing:
        with in_the_outbox(stack) as question:
            healing.enter_context(fault)
            if anew:
                close_connections(stack)
        with suppress(AssertionError):  # some leave the relay's heartbeat as it was
            stack.wait(lambda: _is_stalled(stack), what="a relay that gets on no more", seconds=8)
        yield question


def refusal(
    name: str,
    words: str,
    change: Callable[[Stack], AbstractContextManager[Any]],
    *,
    step: str = "",
    only: Broker | Literal[""] = "",
    victims: tuple[str, ...] = EVERYBODY,
    anew: bool = False,
) -> None:
    """Put into the catalogue that a server refuses while it is changed: triage and doctor quote one of its words."""

    def inject(stack: Stack) -> Iterator[Question]:
        yield from met_by_the_relay(stack, change(stack), anew=anew)

    inject.__module__ = change.__module__  # which names the fault's room
    fault(name, STUCK, PLATFORM, only=only, says=words, step=step, doctor=words, victims=victims)(inject)


def _is_stalled(stack: Stack) -> bool:
    try:
        return not stack.lives("relay")
    except DatabaseError:
        connection.close()
        return False
