"""What goes wrong with the relay."""

import sys
from collections.abc import Iterator

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import row_of, until_processed
from baton_dev.blame.stack import Stack
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import OutboxMessage
from baton_messaging.models.dead_letter import RELAY

from tests.blame.samples import PLATFORM, SAMPLE, ordinary

DYING = [sys.executable, "-m", "tests.blame.dying_relay"]
BREAKING = [*DYING, "raise"]


@fault("relay stopped", State.RELAY_STALLED, PLATFORM, says="SIGTERM", step="relay", doctor="SIGTERM", short=True)
def stopped(stack: Stack) -> Iterator[Question]:
    stack.stop("relay")
    yield ordinary()


@fault("relay killed", State.RELAY_STALLED, PLATFORM)
def killed(stack: Stack) -> Iterator[Question]:
    stack.kill("relay")
    yield ordinary()


@fault("relay stopped with SIGSTOP", State.RELAY_STALLED, PLATFORM, says="SIGSTOP", step="CONT", doctor="SIGSTOP")
def frozen(stack: Stack) -> Iterator[Question]:
    stack.freeze("relay")
    yield ordinary()


@fault(
    "relay ended by an error",
    State.RELAY_STALLED,
    PLATFORM,
    says="ended by an error|NoSuchSetting|KeyError|SyntaxError",
    step="[Mm]end",
    doctor="ended by an error",
)
def broken(stack: Stack) -> Iterator[Question]:
    stack.stop("relay")
    stack.launch("relay", command=BREAKING)
    stack.wait(lambda: stack.processes["relay"].exit_code is not None, what="the relay's end")
    yield ordinary()


@fault("relay killed between send and mark", State.DONE, SAMPLE)
def killed_between(stack: Stack) -> Iterator[Question]:
    question = _sent_and_not_marked(stack)
    until_processed(stack, question)
    yield question


# RabbitMQ does not say whether it has the message, so there the relay is all that is known to be missing.
@fault("relay killed between send and mark, worker away", State.NOBODY_CONSUMES, SAMPLE, only="redis", pair=True)
def killed_between_without_worker(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    yield _sent_and_not_marked(stack)


@fault("relay of an older release", State.RELAY_STALLED, PLATFORM)
def older_release(stack: Stack) -> Iterator[Question]:
    stack.stop("relay")
    question = ordinary()
    OutboxMessage.objects.filter(key=question.id).update(name="sample.of_tomorrow")
    stack.start("relay")
    stack.wait(lambda: row_of(question).last_error, what="a refusal")
    yield Question(question.id, RELAY)


def _sent_and_not_marked(stack: Stack) -> Question:
    stack.stop("relay")
    question = ordinary()
    stack.launch("relay", command=DYING)
    stack.wait(lambda: stack.processes["relay"].exit_code is not None, what="the relay's death")
    assert row_of(question).published_at is None
    return question
