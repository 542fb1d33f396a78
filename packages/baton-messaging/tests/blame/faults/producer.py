"""What goes wrong where an event is published; and what goes right."""

from collections.abc import Iterator
from datetime import timedelta

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import until_processed
from baton_dev.blame.stack import Stack
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import OutboxMessage
from django.utils import timezone

from tests.blame.samples import SAMPLE, ordinary


@fault("nothing at all", State.DONE, SAMPLE, short=True)
def nothing(stack: Stack) -> Iterator[Question]:
    question = ordinary()
    until_processed(stack, question)
    yield question


@fault("clock of the web ahead", State.DONE, SAMPLE, says="ahead of the database")
def clock_of_the_web(stack: Stack) -> Iterator[Question]:
    question = ordinary()
    OutboxMessage.objects.filter(key=question.id).update(occurred_at=timezone.now() + timedelta(hours=1))
    until_processed(stack, question)
    yield question
