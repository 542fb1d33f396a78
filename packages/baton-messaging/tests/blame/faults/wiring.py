"""Processes that are wired otherwise than the others, and consumers that nobody knows."""

import os
import resource
import signal
import subprocess
from collections.abc import Iterator

from baton_dev.blame.catalogue import Question, fault
from baton_dev.blame.effects import long_ago, until_dead, until_published
from baton_dev.blame.servers import another_broker, close_connections, session, stranger
from baton_dev.blame.stack import Stack, worker_command
from baton_dev.project import PROJECT_DIR
from baton_dev.testing.processes import manage_command
from baton_messaging.conf import baton
from baton_messaging.diagnosis.triage.verdict import State
from baton_messaging.models import Heartbeat
from baton_messaging.processes.findings import trouble_of
from celery import current_app

from tests.blame.samples import PLATFORM, SAMPLE, in_the_outbox, ordinary, otherwise, sent, worker_again

TAKEN = (State.ELSEWHERE, State.UNKNOWN)


@fault("worker with another secret key", State.DEAD, PLATFORM, says=("signature", "key"), doctor="key")
def another_key(stack: Stack) -> Iterator[Question]:
    with otherwise(stack, "sample", DJANGO_SECRET_KEY="another " * 8):
        question = ordinary()
        until_dead(stack)
        yield question


@fault(
    "the key of a worker is right again, its dead letter open",
    State.DEAD,
    SAMPLE,
    says="signature",
    step="dead_letters replay",
)
def key_mended(stack: Stack) -> Iterator[Question]:
    stack.restart("sample", DJANGO_SECRET_KEY="another " * 8)
    question = ordinary()
    until_dead(stack)
    stack.restart("sample")
    mine = Heartbeat.objects.filter(pid=stack.processes["sample"].pid)
    stack.wait(lambda: mine.get().wiring, what="a worker that says what it is wired to")
    yield question


@fault("relay with another broker", TAKEN, PLATFORM, says="broker", doctor="broker")
def relay_elsewhere(stack: Stack) -> Iterator[Question]:
    with another_broker(stack) as url, otherwise(stack, "relay", CELERY_BROKER_URL=url):
        mine = Heartbeat.objects.filter(pid=stack.processes["relay"].pid)
        stack.wait(lambda: mine.get().wiring.get("broker"), what="a relay that has said what it is wired to")
        question = sent(stack)
        long_ago(question)
        yield question


@fault(
    "relay with a broker's name that is gone",
    (State.RELAY_STALLED, State.WAITING),
    PLATFORM,
    says="not known|resolve",
    step="CELERY_BROKER_URL",
    doctor="not known|resolve",
)
def relay_without_a_name(stack: Stack) -> Iterator[Question]:
    stack.stop("relay")
    stack.start("relay", environment={"CELERY_BROKER_URL": "redis://no-such-host.invalid:6379/0"})
    try:
        mine = Heartbeat.objects.filter(pid=stack.processes["relay"].pid)
        stack.wait(lambda: any(map(trouble_of, mine.all())), what="a relay that says what it waits for")
        yield ordinary()
    finally:
        stack.stop("relay")


@fault(
    "worker with another broker",
    (State.NOBODY_CONSUMES, State.QUEUED),
    PLATFORM,
    says="broker",
    doctor="broker",
)
def worker_elsewhere(stack: Stack) -> Iterator[Question]:
    with another_broker(stack) as url, otherwise(stack, "sample", CELERY_BROKER_URL=url):
        yield sent(stack)


@fault("worker with another database", TAKEN, PLATFORM, says="consumer|database", doctor="consumer|database")
def worker_of_staging(stack: Stack) -> Iterator[Question]:
    url = f"{stack.environment()['DATABASE_URL'].rpartition('/')[0]}/staging"
    with session("admin", database="postgres") as own:
        own.execute("DROP DATABASE IF EXISTS staging WITH (FORCE)")
        own.execute("CREATE DATABASE staging")
    environment = {**os.environ, **stack.environment(), "DATABASE_URL": url}
    command = manage_command("migrate", "--run-syncdb", "--skip-checks", "-v", "0")
    subprocess.run(command, env=environment, cwd=PROJECT_DIR, check=True)
    stack.stop("sample")
    command = worker_command("part", "sample")
    stack.start("sample", command=command, environment={"DATABASE_URL": url})
    theirs_process = stack.processes["sample"]
    try:
        question = sent(stack)
        with session("psql", database="staging") as theirs:
            count = "SELECT count(*) FROM sample_effect"
            stack.wait(lambda: theirs.execute(count).fetchone() != (0,), what="an effect in the other database")
            settled = "SELECT now() - started_at > make_interval(secs => %s) FROM baton_heartbeat WHERE name = %s"
            told = [2 * baton().heartbeat_seconds + 1, "part@blame"]
            stack.wait(lambda: theirs.execute(settled, told).fetchone() == (True,), what="one that is no newcomer")
        worker_again(stack)
        long_ago(question)
        yield question
    finally:
        theirs_process.kill()


@fault("a stranger takes from the queue", TAKEN, PLATFORM, says="consumer|client|old-app", doctor="consumer|client")
def taken_by_a_stranger(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    with stranger(stack, "sample") as taken:
        question = ordinary()
        stack.wait(lambda: taken, what="a message that was taken")
        until_published(stack, question)
        worker_again(stack)
        yield question


@fault(
    "worker was told to leave its queue",
    State.NOBODY_CONSUMES,
    SAMPLE,
    says="no longer|told to|does not consume",
    step="start|add_consumer",
    alive={"sample": "dead"},
)
def told_to_leave(stack: Stack) -> Iterator[Question]:
    current_app.control.cancel_consumer("sample", destination=["sample@blame"])
    mine = Heartbeat.objects.filter(pid=stack.processes["sample"].pid)
    stack.wait(lambda: mine.get().unconsumed_queues, what="a worker without its queue")
    question = sent(stack)
    try:
        yield question
    finally:
        stack.stop("sample")


@fault("no worker left after three", State.NOBODY_CONSUMES, SAMPLE, says="sample@blame", step="start")
def none_left(stack: Stack) -> Iterator[Question]:
    good = stack.processes["sample"]
    for number in ("1", "2"):
        stack.start("sample", command=worker_command(f"extra{number}", "sample"))
        stack.wait(lambda: stack.lives("sample"), what="another worker")
        stack.kill("sample")
    stack.processes["sample"] = good
    stack.stop("sample")
    yield sent(stack)


@fault("worker with a typo in its queue", State.NOBODY_CONSUMES, SAMPLE, step="start")
def typo(stack: Stack) -> Iterator[Question]:
    stack.stop("sample")
    stack.launch("sample", command=worker_command("sample", "smaple"))
    question = sent(stack)
    try:
        yield question
    finally:
        stack.stop("sample")


@fault("worker frozen, its children alive", State.NOBODY_CONSUMES, SAMPLE, alive={"sample": "dead"})
def main_process_frozen(stack: Stack) -> Iterator[Question]:
    os.kill(stack.processes["sample"].pid, signal.SIGSTOP)
    stack.wait(lambda: not stack.lives("sample"), what="an old heartbeat")
    yield sent(stack)


@fault(
    "relay cannot resolve its broker's name",
    State.RELAY_STALLED,
    PLATFORM,
    says="no-such-host|resolve|not known",
    doctor="no-such-host|resolve|not known",
)
def no_name(stack: Stack) -> Iterator[Question]:
    scheme, _slashes, rest = stack.environment()["CELERY_BROKER_URL"].partition("://")
    login, at, place = rest.rpartition("@")
    url = f"{scheme}://{login}{at}no-such-host.invalid:{place.partition(':')[2]}"
    stack.stop("relay")
    stack.launch("relay", environment={"CELERY_BROKER_URL": url})
    mine = Heartbeat.objects.filter(pid=stack.processes["relay"].pid)
    stack.wait(mine.exists, what="a relay that is up")
    question = ordinary()
    stack.wait(lambda: not stack.lives("relay"), what="a relay without its broker")
    stack.wait(mine.filter(health__contains=[{"name": "broker"}]).exists, what="a relay that says what it meets")
    try:
        yield question
    finally:
        stack.stop("relay")


@fault(
    "relay has no file descriptors left",
    State.RELAY_STALLED,
    PLATFORM,
    says="open files|descriptor",
    doctor="open files|descriptor",
)
def no_descriptors(stack: Stack) -> Iterator[Question]:
    pid = stack.processes["relay"].pid
    with in_the_outbox(stack) as question:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3))
        close_connections(stack)
    stack.wait(lambda: not stack.lives("relay"), what="a relay without its broker")
    try:
        yield question
    finally:
        stack.stop("relay")
