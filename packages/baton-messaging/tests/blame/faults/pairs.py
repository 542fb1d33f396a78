"""Two faults at a time: the verdict names the one that the message meets first."""

from collections.abc import Iterator

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import empty_the_broker, long_ago, until_dead
from baton_dev.blame.servers import configured, no_commits, permissions, used_up
from baton_dev.blame.stack import Stack
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.flow_control.pauses import Target, pause
from baton_messaging.models import Attempt
from django.utils import timezone

from tests.blame.faults.consumers import lingering
from tests.blame.faults.people import ANN
from tests.blame.samples import (
    BLAME,
    PLATFORM,
    SAMPLE,
    STUCK,
    TAKE_ONE,
    in_a_queue,
    met_by_the_relay,
    ordinary,
    sent,
    told_to,
    worker_again,
)


@fault("relay and broker away", State.RELAY_STALLED, PLATFORM, pair=True)
def relay_and_broker(stack: Stack) -> Iterator[Question]:
    stack.stop("relay")
    stack.broker.close()
    yield ordinary()


@fault("relay and worker away", State.RELAY_STALLED, PLATFORM, pair=True)
def relay_and_worker(stack: Stack) -> Iterator[Question]:
    stack.stop("relay")
    stack.stop("sample")
    yield ordinary()


@fault("consumer paused, worker away", State.HELD, SAMPLE, pair=True)
def paused_without_worker(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    pause(Target(consumer=TAKE_ONE), actor=ANN, why="a repair")
    yield question


@fault("consumer paused, relay away", State.RELAY_STALLED, PLATFORM, pair=True)
def paused_without_relay(stack: Stack) -> Iterator[Question]:
    stack.stop("relay")
    pause(Target(consumer=TAKE_ONE), actor=ANN, why="a repair")
    yield ordinary()


@fault("retry due, relay away", State.RELAY_STALLED, PLATFORM, pair=True)
def retry_without_relay(stack: Stack) -> Iterator[Question]:
    question = told_to("transient")
    stack.wait(Attempt.objects.filter(consumer=TAKE_ONE).exists, what="a failed attempt")
    stack.stop("relay")
    Attempt.objects.update(due_at=timezone.now())
    yield question


@fault("retry waits, worker away", State.RETRYING, SAMPLE, pair=True)
def retry_without_worker(stack: Stack) -> Iterator[Question]:
    question = told_to("transient")
    stack.wait(Attempt.objects.filter(consumer=TAKE_ONE).exists, what="a failed attempt")
    stack.stop("sample")
    yield question


@fault("broker emptied, beat dead", State.LOST, PLATFORM, says="no beat", pair=True)
def emptied_without_beat(stack: Stack) -> Iterator[Question]:
    stack.stop("beat")
    question = in_a_queue(stack)
    empty_the_broker(stack)
    long_ago(question)
    worker_again(stack)
    yield question


@fault("broker emptied, worker away", State.LOST, PLATFORM, pair=True)
def emptied_without_worker(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    empty_the_broker(stack)
    long_ago(question)
    yield question


@fault("database and broker away", State.UNKNOWN, PLATFORM, pair=True)
def database_and_broker(stack: Stack) -> Iterator[Question]:
    question = sent(stack)
    stack.database.close()
    stack.broker.close()
    yield Question(question.id, "")


@fault("message dead, broker away", State.DEAD, SAMPLE, pair=True)
def dead_without_broker(stack: Stack) -> Iterator[Question]:
    question = told_to("permanent")
    until_dead(stack)
    stack.broker.close()
    yield question


@fault("consumer slow, broker away", State.RUNNING, BLAME, pair=True)
def slow_without_broker(stack: Stack) -> Iterator[Question]:
    question = lingering(stack)
    stack.broker.close()
    yield question
    stack.kill_for_good("blame")


# Whoever asks must hear of the one without which the other cannot be mended.
@fault(
    "database commits nothing, worker away",
    (*STUCK, State.QUEUED),  # the relay may have sent it, and wait for its own commit
    PLATFORM,
    says="standby|SyncRep",
    doctor="standby",
    pair=True,
)
def no_commits_without_worker(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    yield from met_by_the_relay(stack, no_commits())


@fault("consumer paused, another application has all connections", State.UNKNOWN, PLATFORM, pair=True)
def paused_without_connections(stack: Stack) -> Iterator[Question]:
    pause(Target(consumer=TAKE_ONE), actor=ANN, why="a repair")
    question = sent(stack)
    with used_up("reports"):
        yield Question(question.id, "")


@fault("broker waits for replicas, worker away", STUCK, PLATFORM, says="replica", only="redis", pair=True)
def no_replicas_without_worker(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    yield from met_by_the_relay(stack, configured(stack, "min-replicas-to-write", "1"))


@fault("broker's user may not write, worker away", STUCK, PLATFORM, says="REFUSED", only="rabbitmq", pair=True)
def no_write_without_worker(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    yield from met_by_the_relay(stack, permissions(stack, write="^$"))
