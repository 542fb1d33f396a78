"""What goes wrong in a consumer's code, and with messages that are none."""

from collections.abc import Iterator
from uuid import uuid4

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import place, until_dead, until_running
from baton_dev.blame.stack import Stack
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Attempt
from celery import current_app

from tests.blame.samples import BLAME, SAMPLE, told_to
from tests.dead_letters.causes import forged, revoked, send_raw, unknown_task, unknown_version
from tests.sample.events import Fleeting, Listed


def dying(stack: Stack, question: Question) -> Iterator[Question]:
    until_dead(stack)
    yield question


def failing(stack: Stack, question: Question) -> Iterator[Question]:
    stack.wait(Attempt.objects.filter(consumer=question.consumer).exists, what="a failed attempt")
    yield question


@fault("consumer raises a permanent error", State.DEAD, SAMPLE, says="permanent error", short=True)
def permanent(stack: Stack) -> Iterator[Question]:
    yield from dying(stack, told_to("permanent"))


@fault("consumer raises a transient error", State.RETRYING, SAMPLE, says="TransientError")
def transient(stack: Stack) -> Iterator[Question]:
    yield from failing(stack, told_to("transient"))


@fault("consumer runs out of memory", State.RETRYING, SAMPLE, says="MemoryError")
def memory(stack: Stack) -> Iterator[Question]:
    yield from failing(stack, told_to("memory"))


@fault("consumer raises what cannot be pickled", State.DEAD, SAMPLE)
def unpicklable(stack: Stack) -> Iterator[Question]:
    yield from dying(stack, told_to("unpicklable"))


@fault("consumer swallows a database error", State.DEAD, SAMPLE)
def swallowed(stack: Stack) -> Iterator[Question]:
    yield from dying(stack, told_to("swallow"))


@fault("consumer asks for a row that is gone", State.DEAD, SAMPLE, says="DoesNotExist")
def row_gone(stack: Stack) -> Iterator[Question]:
    yield from dying(stack, told_to("row_gone"))


@fault("consumer ends its process", State.DEAD, SAMPLE)
def exits(stack: Stack) -> Iterator[Question]:
    yield from dying(stack, told_to("exit"))


@fault("retries spent", State.DEAD, SAMPLE, says="retries spent")
def spent(stack: Stack) -> Iterator[Question]:
    yield from dying(stack, place(Listed(sample_id=uuid4(), behaviour="transient"), "sample.take_list"))


def lingering(stack: Stack) -> Question:
    """Leave a message in the hands of a consumer that takes its time."""
    from tests.blame.events import Lingered

    question = place(Lingered(blame_id=uuid4(), seconds=10), "blame.linger")
    until_running(stack, question)
    return question


@fault("consumer slow", State.RUNNING, BLAME)
def slow(stack: Stack) -> Iterator[Question]:
    yield lingering(stack)
    stack.kill_for_good("blame")


def hurried(behaviour: str) -> Question:
    from tests.blame.events import Hurried

    return place(Hurried(blame_id=uuid4(), behaviour=behaviour), "blame.hurry")


@fault("consumer hits its soft limit", State.DEAD, BLAME, says="time limit")
def soft_limit(stack: Stack) -> Iterator[Question]:
    yield from dying(stack, hurried("hang"))


@fault("consumer hits its hard limit", State.DEAD, BLAME, says="time limit")
def hard_limit(stack: Stack) -> Iterator[Question]:
    yield from dying(stack, hurried("hang_on"))


@fault("unknown task", State.DEAD, SAMPLE, says="unknown task")
def no_such_task(stack: Stack) -> Iterator[Question]:
    key = uuid4()
    unknown_task(key)
    until_dead(stack)
    yield Question(str(until_dead(stack).message_id), "sample.renamed_v2")


@fault("unknown task of another name", State.DEAD, SAMPLE, says="unknown task", doctor="")
def foreign_task(stack: Stack) -> Iterator[Question]:
    current_app.send_task("elsewhere.thing", args=["x"], queue="sample")
    yield Question(str(until_dead(stack).pk), "elsewhere.thing")


@fault("bad signature", State.DEAD, SAMPLE, says="bad signature")
def bad_signature(stack: Stack) -> Iterator[Question]:
    forged(uuid4())
    yield Question(str(until_dead(stack).pk), "sample.die")


@fault("undecodable body", State.DEAD, SAMPLE, says="undecodable")
def undecodable(stack: Stack) -> Iterator[Question]:
    send_raw("{broken")
    yield Question(str(until_dead(stack).pk), "sample.die")


@fault("unknown version of an event", State.DEAD, SAMPLE, says="unknown event")
def version_of_tomorrow(stack: Stack) -> Iterator[Question]:
    key = uuid4()
    unknown_version(key)
    until_dead(stack)
    yield Question(str(key), "sample.die")


@fault("expired message", State.DEAD, SAMPLE, says="expired")
def expired(stack: Stack) -> Iterator[Question]:
    yield from dying(stack, place(Fleeting(sample_id=uuid4()), "sample.catch"))


@fault("revoked message", State.DEAD, SAMPLE, says="revoked")
def taken_back(stack: Stack) -> Iterator[Question]:
    revoked(uuid4())
    yield Question(str(until_dead(stack).pk), "sample.die")
