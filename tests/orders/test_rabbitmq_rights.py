"""With exactly the rights that docs/security.md lists, an order goes through on RabbitMQ, and a dead letter arrives."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import amqp
import pytest
from baton_dev.project import PROJECT_DIR
from baton_dev.testing.processes import Process, collector_command, relay_command, wait_until, worker_command
from baton_dev.testing.rabbitmq import RabbitMQ, skip_without_rabbitmq
from baton_messaging.models import DeadLetter
from django.conf import settings

from orders import services
from orders.models import Order, OrderStatus
from tests.inventory.factories import stock
from tests.orders.factories import a_request, products

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]

PASSWORD = "least-rights"
UNUSED = "celery_delayed_"  # Celery's native delayed delivery, which Baton does not use: a warning at the start
ROW = re.compile(
    r"^\| (?P<process>[^|]+) \| `(?P<configure>\^.*?\$)` \| `(?P<write>\^.*?\$)` \| `(?P<read>\^.*?\$)` \|$",
    re.MULTILINE,
)
QUEUES = [queue.name for queue in settings.BATON["QUEUES"]]


def documented_rights() -> dict[str, tuple[str, str, str]]:
    """Return the patterns of each row, by the first word of its process."""
    names = "|".join(re.escape(name) for name in QUEUES)
    found = {}
    for row in ROW.finditer((PROJECT_DIR / "docs" / "security.md").read_text()):
        patterns = [row[name].replace("\\|", "|").replace("QUEUES", names) for name in ("configure", "write", "read")]
        found[re.split(r"\W", row["process"])[0]] = (patterns[0], patterns[1], patterns[2])
    return found


def binary(text: str) -> str:
    """Write it as Erlang does."""
    return '<<"' + text.replace("\\", "\\\\") + '">>'


@pytest.fixture(scope="module")
def rabbitmq() -> Iterator[RabbitMQ]:
    skip_without_rabbitmq()
    service = RabbitMQ(Path(os.environ["BATON_STATE_DIR"]) / "rights")
    service.destroy()
    service.start()
    for user, patterns in documented_rights().items():
        service.evaluate(f"rabbit_auth_backend_internal:add_user({binary(user)}, {binary(PASSWORD)}, {binary('test')})")
        words = ", ".join(binary(word) for word in (user, "/", *patterns, "test"))
        service.evaluate(f"rabbit_auth_backend_internal:set_permissions({words})")
    yield service
    service.stop()


@pytest.fixture
def start(rabbitmq: RabbitMQ, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start a process with the rights of its row; none of them may be refused anything."""
    started: list[Process] = []
    with ExitStack() as stack:

        def start(user: str, command: list[str]) -> Process:
            log = tmp_path / f"{len(started)}-{user}.log"
            process = Process(command, log=log, env={"CELERY_BROKER_URL": url_of(rabbitmq, user)})
            started.append(process)
            stack.callback(process.kill)
            return process

        yield start
        said = [line for process in started for line in process.output().splitlines()]
        refused = [line for line in said if "ACCESS_REFUSED" in line and UNUSED not in line]
    assert refused == []


def url_of(rabbitmq: RabbitMQ, user: str) -> str:
    return f"amqp://{quote(user)}:{PASSWORD}@127.0.0.1:{rabbitmq.port}//"


def test_an_order_goes_through_and_a_dead_letter_arrives(start: Callable[..., Process], rabbitmq: RabbitMQ) -> None:
    products()
    stock(MUG=10)
    worker = start("worker", [*worker_command(*QUEUES), "--without-mingle", "--without-gossip"])  # as in the Procfile
    start("relay", relay_command())
    start("collector", collector_command())
    beat = start(
        "relay", [sys.executable, "-m", "celery", "--skip-checks", "-A", "config", "beat", "-l", "INFO", "--pidfile="]
    )
    worker.wait_for_output(" ready.", seconds=90)
    order = services.place_order(a_request(MUG=1))
    wait_until(
        lambda: Order.objects.get(pk=order.pk).status == OrderStatus.CONFIRMED, seconds=90, what="a confirmed order"
    )
    with amqp.Connection(f"127.0.0.1:{rabbitmq.port}") as guest:
        guest.channel().basic_publish(amqp.Message("{no task", content_type="application/json"), routing_key="orders")
    wait_until(DeadLetter.objects.exists, seconds=60, what="the dead letter")
    assert beat.exit_code is None


@pytest.mark.parametrize("user", ["relay", "collector", "worker"])
def test_nothing_else_is_allowed(rabbitmq: RabbitMQ, user: str) -> None:
    connection = amqp.Connection(f"127.0.0.1:{rabbitmq.port}", userid=user, password=PASSWORD)
    with connection, pytest.raises(amqp.AccessRefused):
        connection.channel().queue_declare("another.project")
