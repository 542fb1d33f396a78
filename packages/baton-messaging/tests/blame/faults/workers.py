"""What goes wrong with workers and with the collector."""

import sys
from collections.abc import Iterator

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import long_ago, until_dead, until_published, until_running
from baton_dev.blame.stack import Stack, worker_command
from baton_messaging.broker.inspect.depth import depths
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Attempt
from celery import current_app
from django.conf import settings

from tests.blame.samples import PLATFORM, SAMPLE, TAKE_ONE, sent, told_to

SKEWED = [sys.executable, "-m", "tests.blame.skewed_worker", "-A", settings.TEST_APPLICATION]


@fault("worker stopped", State.NOBODY_CONSUMES, SAMPLE)
def stopped(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    yield sent(stack)


@fault(
    "worker stopped with SIGSTOP",
    State.NOBODY_CONSUMES,
    SAMPLE,
    says="SIGSTOP",
    step="CONT",
    doctor="SIGSTOP",
    alive={"sample": "dead"},
    short=True,
)
def frozen(stack: Stack) -> Iterator[Question]:
    stack.freeze("sample")
    yield sent(stack)


@fault("worker killed with the message in flight", State.NOBODY_CONSUMES, SAMPLE)
def killed(stack: Stack) -> Iterator[Question]:
    question = told_to("ok", 5)
    until_running(stack, question)
    stack.kill("sample")
    yield question


@fault("worker busy", State.QUEUED, SAMPLE)
def busy(stack: Stack) -> Iterator[Question]:
    for _ in range(6):
        told_to("ok", 5)
    yield sent(stack)


@fault("message kills its worker's child", State.DEAD, SAMPLE, says="killed its worker")
def killer(stack: Stack) -> Iterator[Question]:
    question = told_to("kill")
    until_dead(stack)
    yield question


@fault("collector dead", State.DEAD, PLATFORM, on_rabbitmq=State.UNKNOWN)
def collector_dead(stack: Stack) -> Iterator[Question]:
    stack.stop("collector")
    question = told_to("kill")
    until_published(stack, question)
    stack.wait(lambda: _in_dead_letter_queue() == 1, what="a message in the dead-letter queue", seconds=60)
    long_ago(question)
    yield question


@fault("clock of a worker ahead", State.RETRYING, SAMPLE, says="clock")
def clock_ahead(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    stack.start("sample", command=worker_command("sample", "sample", module=SKEWED))
    question = told_to("transient")
    stack.wait(Attempt.objects.filter(consumer=TAKE_ONE).exists, what="a failed attempt")
    try:
        yield question
    finally:
        stack.stop("sample")


def _in_dead_letter_queue() -> int:
    with current_app.connection_for_read() as broker:
        return depths(broker, ["dead_letters"])["dead_letters"].total
