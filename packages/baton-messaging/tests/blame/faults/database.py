"""What goes wrong with the database: the one thing without which the tables cannot be asked."""

from collections.abc import Iterator

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import until_processed
from baton_dev.blame.stack import Stack, frozen
from baton_messaging.diagnosis.triage.verdict import State
from django.db import connection

from tests.blame.samples import PLATFORM, SAMPLE, ordinary, sent


@fault("database refuses connections", State.UNKNOWN, PLATFORM, says="database", short=True)
def refusing(stack: Stack) -> Iterator[Question]:
    question = sent(stack)
    stack.database.close()
    yield Question(question.id, "")


@fault("database stopped with SIGSTOP", State.UNKNOWN, PLATFORM, says="no answer within")
def silent(stack: Stack) -> Iterator[Question]:
    assert stack.database_server
    question = sent(stack)
    with frozen(stack.database_server):
        yield Question(question.id, "")


@fault("database restarted", State.DONE, SAMPLE)
def restarted(stack: Stack) -> Iterator[Question]:
    assert stack.database_server
    question = ordinary()
    connection.close()
    stack.database_server.stop()
    stack.database_server.start()
    until_processed(stack, question)
    yield question
