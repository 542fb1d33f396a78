"""What goes wrong when a process is wired to something else than the others: nobody refuses anything."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import until_dead, until_published
from baton_dev.blame.stack import Part, Stack, worker
from baton_dev.testing.processes import Process
from baton_dev.testing.rabbitmq import RabbitMQ
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Heartbeat, OutboxMessage, ProcessedMessage

from tests.blame.samples import PLATFORM, SAMPLE, TAKE_ONE, in_a_queue, ordinary

OTHER_KEY = "the key of another project, which somebody has put into this one's file"


@contextmanager
def staging(stack: Stack) -> Iterator[str]:
    """Make and migrate a second database; return its URL."""
    name = f"staging_{uuid4().hex[:8]}"
    url = stack.environment()["DATABASE_URL"]
    other = urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            migrate = [sys.executable, "-m", "django", "migrate", "--run-syncdb", "-v", "0", "--skip-checks"]
            environment = {**stack.environment(), "DATABASE_URL": other, "PYTHONPATH": str(Path.cwd())}
            assert Process(migrate, log=stack.folder / "staging.log", env=environment).wait(seconds=60) == 0
            yield other
        finally:
            with suppress(psycopg.Error):
                server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def another_place(stack: Stack) -> Iterator[str]:
    """Return the URL of another database of the same Valkey, or of another virtual host of the same RabbitMQ."""
    if isinstance(stack.broker_server, RabbitMQ):
        node = stack.broker_server
        node.evaluate('rabbit_vhost:add(<<"elsewhere">>, <<"blame">>)')
        everything = ", ".join(['<<".*">>'] * 3)
        node.evaluate(
            f'rabbit_auth_backend_internal:set_permissions(<<"guest">>, <<"elsewhere">>, {everything}, <<"blame">>)'
        )
        try:
            yield stack.broker_url("elsewhere")
        finally:
            node.evaluate('rabbit_vhost:delete(<<"elsewhere">>, <<"blame">>)')
    else:
        yield stack.broker_url("5")


def not_processed_of(stack: Stack, questions: list[Question]) -> Question:
    """Return one that was taken, and not by a worker of ours: the last to settle have had their time."""
    ids = {question.id for question in questions}

    def some_are_missing() -> bool:
        there = ProcessedMessage.objects.filter(consumer=TAKE_ONE).count()
        return 0 < there < len(ids) or there == 0

    stack.wait(lambda: OutboxMessage.objects.filter(published_at=None).count() == 0, what="an empty outbox")
    stack.wait(some_are_missing, what="messages that another has taken")
    processed = ProcessedMessage.objects.filter(consumer=TAKE_ONE).values("message_id")
    row = OutboxMessage.objects.filter(key__in=ids).exclude(message_id__in=processed).order_by("-pk").first()
    assert row, "each message was taken by the right worker"
    return Question(row.key, TAKE_ONE)


@fault(
    "a second worker with the URL of staging's database",
    (State.ELSEWHERE, State.LOST, State.UNKNOWN),
    PLATFORM,
    doctor="sample",
    step="stop",
)
def other_database(stack: Stack) -> Iterator[Question]:
    with staging(stack) as url, stack.beside(worker("part", "sample", concurrency=2), DATABASE_URL=url):
        stack.stop("sample")
        questions = [ordinary() for _ in range(4)]
        stack.wait(lambda: OutboxMessage.objects.filter(published_at=None).count() == 0, what="an empty outbox")
        stack.start("sample")
        yield not_processed_of(stack, questions)


@fault("worker with another signing key", State.DEAD, PLATFORM, says="key", step="SECRET_KEY", doctor="key")
def other_key(stack: Stack) -> Iterator[Question]:
    with stack.changed("sample", DJANGO_SECRET_KEY=OTHER_KEY):
        question = ordinary()
        until_dead(stack)
        yield question


@fault(
    "relay on another broker than the workers",
    (State.QUEUED, State.ELSEWHERE, State.LOST),
    PLATFORM,
    says="broker",
    doctor="broker",
    victims=("sample",),
)
def relay_elsewhere(stack: Stack) -> Iterator[Question]:
    with another_place(stack) as url, stack.changed("relay", CELERY_BROKER_URL=url):
        stack.wait(lambda: stack.lives("relay"), what="a relay that lives")
        question = ordinary()
        until_published(stack, question)
        yield question


@fault(
    "workers on another broker than the relay",
    (State.QUEUED, State.ELSEWHERE, State.NOBODY_CONSUMES),
    PLATFORM,
    says="broker",
    doctor="broker",
)
def worker_elsewhere(stack: Stack) -> Iterator[Question]:
    with another_place(stack) as url, stack.changed("sample", CELERY_BROKER_URL=url):
        stack.wait(lambda: stack.lives("sample"), what="a worker that lives")
        question = ordinary()
        until_published(stack, question)
        yield question


@fault("worker started for another queue", State.NOBODY_CONSUMES, SAMPLE, step="-Q sample")
def other_queue(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    with stack.beside(worker("sample2", "blame")):
        question = ordinary()
        until_published(stack, question)
        yield question


@fault(
    "a program without Baton takes the messages",
    (State.ELSEWHERE, State.LOST, State.UNKNOWN),
    PLATFORM,
    doctor="sample",
)
def plain_consumer(stack: Stack) -> Iterator[Question]:
    question = in_a_queue(stack)
    url = stack.environment()["CELERY_BROKER_URL"]
    with stack.beside(Part([sys.executable, "-m", "tests.blame.plain", url], "took"), PYTHONPATH=str(Path.cwd())):
        stack.start("sample")
        stack.wait(lambda: stack.lives("sample"), what="a worker that lives")
        yield question


@fault("no worker runs: two killed, the last one stopped", State.NOBODY_CONSUMES, SAMPLE, says="sample")
def nobody_runs(stack: Stack) -> Iterator[Question]:
    with stack.beside(worker("part", "sample")) as extra:
        stack.wait(Heartbeat.objects.filter(pid=extra.pid).exists, what="a heartbeat")
        extra.kill()
        stack.stop("sample")
        stack.wait(lambda: not Heartbeat.objects.fresh().filter(pid=extra.pid).exists(), what="an old heartbeat")
        question = ordinary()
        until_published(stack, question)
        yield question
