"""What people do, and the breaker in their stead."""

from collections.abc import Iterator
from uuid import uuid4

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import place, until_dead
from baton_dev.blame.stack import Stack
from baton_messaging.audit.actors import Actor
from baton_messaging.dead_letters.operations.discard import discard
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.flow_control.pauses import Target, pause
from baton_messaging.models import Circuit

from tests.blame.samples import SAMPLE, TAKE_ONE, told_to
from tests.sample.events import Sampled

ANN = Actor(name="ann", via="command")


@fault("consumer paused", State.HELD, SAMPLE, says="ann", short=True)
def paused(_stack: Stack) -> Iterator[Question]:
    pause(Target(consumer=TAKE_ONE), actor=ANN, why="a repair")
    yield told_to("ok")


@fault("key paused", State.HELD, SAMPLE, says="ann")
def key_paused(_stack: Stack) -> Iterator[Question]:
    key = uuid4()
    pause(Target(event_name="sample.sampled", key=str(key)), actor=ANN, why="asked by the customer")
    yield place(Sampled(sample_id=key), TAKE_ONE)


@fault("circuit open", State.HELD, SAMPLE, says="circuit")
def circuit_open(stack: Stack) -> Iterator[Question]:
    for _ in range(3):
        told_to("transient")
    stack.wait(Circuit.objects.open().exists, what="an open circuit")
    told_to("transient")
    question = told_to("transient")
    yield question


@fault("dead letter discarded", State.DEAD, SAMPLE, says="discarded")
def discarded(stack: Stack) -> Iterator[Question]:
    question = told_to("permanent")
    letter = until_dead(stack)
    discard(Selection(ids=(letter.pk,)), actor=ANN, why="not needed")
    yield question
