"""What was right once and was forgotten: each part does as it is told, and nothing goes on."""

from collections.abc import Iterator
from datetime import timedelta

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.stack import Stack
from baton_messaging.audit.actors import Actor
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.flow_control.pauses import Target, pause
from baton_messaging.models import Attempt, Circuit, Pause
from django.utils import timezone

from tests.blame.samples import SAMPLE, TAKE_ONE, told_to

ANN = Actor(name="ann", via="command")


@fault("a pause that was forgotten for three days", State.HELD, SAMPLE, says="ann", doctor="pause")
def old_pause(_stack: Stack) -> Iterator[Question]:
    pause(Target(consumer=TAKE_ONE), actor=ANN, why="a repair")
    Pause.objects.update(paused_at=timezone.now() - timedelta(days=3))
    yield told_to("ok")


@fault("a circuit that has been open for two days", State.HELD, SAMPLE, says="circuit", doctor="circuit")
def old_circuit(stack: Stack) -> Iterator[Question]:
    for _ in range(3):
        told_to("transient")
    stack.wait(Circuit.objects.open().exists, what="an open circuit")
    Circuit.objects.update(opened_at=timezone.now() - timedelta(days=2))
    yield told_to("transient")


@fault("a retry that is due in three days", State.RETRYING, SAMPLE)
def far_retry(stack: Stack) -> Iterator[Question]:
    question = told_to("transient")
    failed = Attempt.objects.filter(key=question.id, consumer=TAKE_ONE)
    stack.wait(failed.exists, what="a failed attempt")
    failed.update(due_at=timezone.now() + timedelta(days=3))
    yield question
