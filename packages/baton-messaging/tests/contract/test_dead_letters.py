"""Every way a message can die ends in the dead-letter queue, with the same headers on both brokers."""

import bz2
import time
import zlib
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import kombu
import pytest
from baton_dev.testing.deadline import within
from baton_dev.testing.processes import Process, wait_until
from baton_messaging.broker.bounds import OutOfBounds
from baton_messaging.broker.dead_letter_headers import DELIVERY_LIMIT as LIMIT_REACHED
from baton_messaging.broker.dead_letter_headers import REJECTED, death_of
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE, dead_letter_queue
from kombu.message import Message

from tests.contract.brokers import Broker, drain, lines, wait_for_lines
from tests.contract.celery_app import DELIVERY_LIMIT, FINISHED, QUEUES, STARTED

QUEUE = QUEUES[1]
RUNS = DELIVERY_LIMIT + 1


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("reject", (REJECTED, 1)),
        ("fail", (REJECTED, 1)),
        ("kill_itself", (LIMIT_REACHED, RUNS)),
        ("run_for_ever", (LIMIT_REACHED, RUNS)),
        ("requeue_bundle", (LIMIT_REACHED, RUNS)),
    ],
)
def test_message_dies_of_its_task(
    broker: Broker, worker: Process, path: Path, task: str, expected: tuple[str, int]
) -> None:
    reason, runs = expected
    task_id = broker.send(task, path, queue=QUEUE)
    behind = path.with_name("behind")
    broker.send("record", behind, queue=QUEUE)

    death = death_of(broker.dead_letter(task_id).headers)

    assert death is not None
    assert (death.queue, death.reason, death.count, death.routing_key) == (QUEUE, reason, 1, QUEUE)
    assert abs(datetime.now(UTC) - death.died_at) < timedelta(minutes=1)
    assert len(lines(path)) == runs
    wait_for_lines(behind, FINISHED)  # the queue behind it is served (F07)
    assert worker.exit_code is None


def test_killed_child_is_noticed_at_once(broker: Broker, worker: Process, path: Path) -> None:
    """Not with the pool's round of every five seconds, though it may have begun to end before it has ended."""
    paths = (path.with_name(f"{path.name}-{number}") for number in count())

    def end_all_runs() -> None:
        runs = next(paths)
        broker.send("end_slowly", runs, queue=QUEUE)
        wait_for_lines(runs, *[STARTED] * RUNS)

    within(end_all_runs, seconds=4)


def test_returns_are_counted_in_a_header(broker: Broker, worker: Process, path: Path) -> None:
    task_id = broker.send("requeue_bundle", path, queue=QUEUE)

    message = broker.dead_letter(task_id)

    assert lines(path) == ["0", "1", "2"]
    assert int(message.headers.get("x-delivery-count") or 0) == 0  # of the dead-letter queue


def test_dead_letter_has_the_headers_of_rabbitmq(broker: Broker, worker: Process, path: Path) -> None:
    message = broker.dead_letter(broker.send("reject", path, queue=QUEUE))

    (death,) = message.headers["x-death"]
    assert death.pop("time").tzinfo is None
    assert death == {"count": 1, "reason": "rejected", "queue": QUEUE, "exchange": "", "routing-keys": [QUEUE]}
    first = {name: value for name, value in message.headers.items() if name.startswith("x-first-death")}
    assert first == {
        "x-first-death-queue": QUEUE,
        "x-first-death-reason": "rejected",
        "x-first-death-exchange": "",
    }
    assert message.delivery_info["routing_key"] == "dead_letters"
    assert message.payload[0] == [str(path)]


def test_unknown_task_dies(broker: Broker, worker: Process) -> None:
    death = death_of(broker.dead_letter(broker.send("renamed_v2", queue=QUEUE)).headers)

    assert death is not None
    assert death.reason == REJECTED


@pytest.mark.parametrize(
    ("body", "options"),
    [
        pytest.param("{broken", {"content_type": "application/json", "content_encoding": "utf-8"}, id="broken JSON"),
        pytest.param(b"\xff\xfe", {"content_type": "application/json", "content_encoding": "utf-8"}, id="no UTF-8"),
        pytest.param(b"x", {"content_type": "application/json", "content_encoding": "latin-17"}, id="unknown encoding"),
        pytest.param(b"\x80", {"content_type": "application/x-python-serialize"}, id="pickle"),
        pytest.param({"__type__": "no such", "__value__": 1}, {}, id="kombu type"),
        pytest.param([1, 2], {}, id="wrong shape"),
        pytest.param(None, {}, id="null"),
        pytest.param([[], {}, {}], {"headers": {"compression": "application/x-gzip"}}, id="not compressed"),
    ],
)
def test_undecodable_body_dies(broker: Broker, worker: Process, path: Path, body: Any, options: dict[str, Any]) -> None:
    task_id = str(path)
    headers = {"task": "record", "id": task_id, **options.pop("headers", {})}

    broker.publish(body, queue=QUEUE, headers=headers, **options)

    assert broker.dead_letter(task_id).headers["x-first-death-reason"] == REJECTED
    assert worker.exit_code is None


JSON = {"content_type": "application/json", "content_encoding": "utf-8"}
ZEROS = b"0" * 200_000_000


@pytest.mark.parametrize(
    ("body", "options"),
    [
        pytest.param(
            lambda: zlib.compress(ZEROS), {**JSON, "headers": {"compression": "application/x-gzip"}}, id="compressed"
        ),
        pytest.param(
            lambda: bz2.compress(ZEROS), {"content_type": "application/data", "content_encoding": "bz2"}, id="codec"
        ),
        pytest.param(lambda: "[" * 500_000, JSON, id="nested"),
        pytest.param(lambda: f"[[{'9' * 10_000}], {{}}, {{}}]", JSON, id="digits"),
        pytest.param(lambda: f"[[{'[],' * 1_000_000}[]], {{}}, {{}}]", JSON, id="large"),
        pytest.param(lambda: f'[["{"x" * 40_000_000}"], {{}}, {{}}]', JSON, id="larger than is read"),
    ],
)
def test_what_is_out_of_bounds_dies_and_costs_no_memory(
    broker: Broker, worker: Process, path: Path, body: Callable[[], Any], options: dict[str, Any]
) -> None:
    task_id, behind = f"{path}-{len(options)}", path.with_name("behind-the-bomb")
    before, dead_count = memory_peak(worker.pid), broker.depth(DEAD_LETTER_QUEUE).waiting
    headers = {"task": "record", "id": task_id, **options.get("headers", {})}
    broker.publish(body(), queue=QUEUE, **{**options, "headers": headers})
    broker.send("record", behind, queue=QUEUE)

    wait_for_lines(behind, FINISHED)

    # RabbitMQ counts late: what another test left may be counted only now.
    wait_until(lambda: broker.depth(DEAD_LETTER_QUEUE).waiting > dead_count, what="a dead letter")
    assert memory_peak(worker.pid) - before < 60_000_000
    assert worker.exit_code is None


def test_a_type_that_the_project_accepts_is_unpacked(broker: Broker, path: Path) -> None:
    queue, options = f"compressed-{path.name}", broker.app.conf.broker_transport_options
    accepting = {**options, "accept_compression": ("application/x-gzip",)}
    for given, expectation in ((accepting, nullcontext()), (options, pytest.raises(OutOfBounds))):
        with broker.app.connection_for_write(transport_options=given) as connection:
            simple = connection.SimpleBuffer(queue)
            simple.put([1, 2], compression="gzip")
            with expectation:
                message = simple.get(timeout=10)
                assert message.payload == [1, 2]
                message.ack()
            simple.close()


def memory_peak(pid: int) -> int:
    """Return the most bytes that the main process of a worker has had."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


@pytest.mark.parametrize(
    "headers", [{"task": "record"}, {}, {"task": ["record"], "id": "x"}], ids=["no id", "none", "list"]
)
def test_foreign_message_does_not_end_the_worker(
    broker: Broker, worker: Process, path: Path, headers: dict[str, Any]
) -> None:
    broker.publish([[str(path)], {}, {}], queue=QUEUE, headers={**headers, "marker": str(path)})
    broker.send("record", path, queue=QUEUE)

    assert broker.dead_letter(headers.get("id", "")).headers["marker"] == str(path)
    wait_for_lines(path, FINISHED)
    assert worker.exit_code is None


def test_text_that_looks_like_a_kombu_type_arrives_unchanged(broker: Broker, worker: Process, path: Path) -> None:
    text = '{"__type__": "uuid", "__value__": "no uuid"}'

    broker.send("record", path, text, queue=QUEUE)

    wait_for_lines(path, text)


def test_rejected_dead_letter_is_dropped(broker: Broker, worker: Process, path: Path) -> None:
    """As a queue without a dead-letter exchange does: there is no list behind the list."""
    task_id = broker.send("reject", path, queue=QUEUE)
    wait_for_lines(path, STARTED)

    message = broker.dead_letter(task_id)
    message_again = broker.depth("dead_letters")

    assert message.acknowledged
    assert message_again.total == 0


def test_dead_letter_that_nobody_can_write_down_outlives_any_number_of_returns(broker: Broker) -> None:
    """RabbitMQ 4 drops a message after 20 returns unless the queue says otherwise."""
    returns = 25
    broker.publish("x", queue=DEAD_LETTER_QUEUE)
    taken: list[Message] = []
    with (
        broker.app.connection_for_read() as connection,
        kombu.Consumer(connection, queues=[dead_letter_queue()], on_message=taken.append, prefetch_count=1),
    ):
        deadline = time.monotonic() + 30
        while len(taken) <= returns and time.monotonic() < deadline:
            drain(connection)
            if taken and not taken[-1].acknowledged:
                taken[-1].requeue() if len(taken) <= returns else taken[-1].ack()
    assert len(taken) == returns + 1
