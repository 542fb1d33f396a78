"""What works as told, and was forgotten: pauses, open circuits, dead letters that nobody looks at."""

from collections.abc import Iterator
from datetime import timedelta

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import until_dead
from baton_dev.blame.stack import Stack
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.flow_control.pauses import Target, pause
from baton_messaging.models import Attempt, Circuit, DeadLetter, Pause
from django.utils import timezone

from tests.blame.faults.people import ANN
from tests.blame.samples import SAMPLE, TAKE_ONE, told_to

LONG = timedelta(days=3)


@fault("consumer paused three days ago", State.HELD, SAMPLE, says="ann", step="resume", doctor="pause")
def old_pause(_stack: Stack) -> Iterator[Question]:
    pause(Target(consumer=TAKE_ONE), actor=ANN, why="a repair")
    Pause.objects.update(paused_at=timezone.now() - LONG)
    yield told_to("ok")


@fault("circuit open for three days", State.HELD, SAMPLE, says="circuit", doctor="circuit")
def old_circuit(stack: Stack) -> Iterator[Question]:
    for _ in range(3):
        told_to("transient")
    stack.wait(Circuit.objects.open().exists, what="an open circuit")
    Circuit.objects.update(opened_at=timezone.now() - LONG)
    told_to("transient")
    yield told_to("transient")


@fault("dead letter unattended for five days", State.DEAD, SAMPLE, says="permanent error", doctor="dead letter")
def unattended(stack: Stack) -> Iterator[Question]:
    question = told_to("permanent")
    until_dead(stack)
    DeadLetter.objects.update(died_at=timezone.now() - timedelta(days=5))
    yield question


@fault("retry due in a month", State.RETRYING, SAMPLE, says="TransientError", doctor="retr")
def far_retry(stack: Stack) -> Iterator[Question]:
    question = told_to("transient")
    stack.wait(Attempt.objects.filter(consumer=TAKE_ONE).exists, what="a failed attempt")
    Attempt.objects.update(due_at=timezone.now() + timedelta(days=30))
    yield question
