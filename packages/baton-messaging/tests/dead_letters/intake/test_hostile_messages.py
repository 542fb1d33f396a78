"""Worker, collector and relay stay below 256 MB each, whatever lies in the queues, and go on with what is behind it.

Their peaks are looked at, and no limit is set: kombu takes a MemoryError for a body that it cannot decode.
On Valkey; tests/contract/test_hostile_messages.py does the same on RabbitMQ.
"""

import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from baton_dev.testing.processes import Process, collector_command, relay_command, wait_until, worker_command
from baton_messaging.messages.envelope import seal
from baton_messaging.models import DeadLetter
from baton_messaging.publish import publish
from celery import current_app
from django.db import transaction

from tests.dead_letters.dead_letter_queue import DEAD, TASK, dead_letter_in_broker
from tests.dead_letters.factories import an_envelope
from tests.parcels.models import Parcel
from tests.sample.events import Sampled
from tests.sample.models import Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]

LIMIT_BYTES = 256 * 1024 * 1024
UNPACKED_BYTES = 500_000_000
QUEUE = "sample"  # that the worker consumes


def bomb() -> bytes:
    """Return half a megabyte that unpacks to half a gigabyte."""
    packer, block = zlib.compressobj(), b"0" * 1_000_000
    return b"".join([*(packer.compress(block) for _ in range(UNPACKED_BYTES // len(block))), packer.flush()])


def hostile_messages() -> Iterator[tuple[Any, dict[str, Any], dict[str, Any]]]:
    """Yield body, headers and properties."""
    task = {"task": "sample.die", "id": "an-id"}
    packed = {"content_encoding": "binary", "content_type": "application/data"}
    yield bomb(), {**task, "compression": "application/x-gzip"}, packed
    yield bomb(), task, {"content_encoding": "zlib", "content_type": "application/json"}
    yield "[" * 1_900_000, task, {}
    yield "[" + "[]," * 2_500_000 + "[]]", task, {}
    yield "[" + "[]," * 600_000 + "[]]", task, {}
    yield "9" * 1_900_000, task, {}
    yield "x" * 30_000_000, task, {}
    yield "[[[]], {}, {}]", {**task, "any": "x" * 100_000}, {}
    yield "[[[]], {}, {}]", {**task, **{f"any{number}": number for number in range(5_000)}}, {}
    yield "[[[]], {}, {}]", {**task, "x-death": 5, "expires": "2020-01-01T00:00:00"}, {}
    yield '[[["a"]], {}, {}]', {"task": ["no", "name"], "id": {"no": "id"}, "timelimit": "no", "eta": "never"}, {}


def put(queue: str, body: Any, headers: dict[str, Any], properties: dict[str, Any]) -> None:
    told: dict[str, Any] = {"content_type": "application/json", "content_encoding": "utf-8", **properties}
    with current_app.connection_for_write() as broker:
        broker.Producer(auto_declare=False).publish(body, exchange="", routing_key=queue, headers=headers, **told)


def peak_bytes(group: int) -> int:
    """Return the largest peak of the processes of a group."""
    peaks = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) == group:
                peaks += re.findall(r"VmHWM:\s+(\d+) kB", (folder / "status").read_text())
        except OSError:
            continue  # it has ended
    return max(int(peak) for peak in peaks) * 1024


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[dict[str, Process]]:
    commands = {
        "worker": worker_command(QUEUE, concurrency=1),
        "collector": collector_command(),
        "relay": relay_command(),
    }
    started = {name: Process(command, log=tmp_path / f"{name}.log") for name, command in commands.items()}
    try:
        started["worker"].wait_for_output(" ready.")
        started["collector"].wait_for_output("collector_started")
        yield started
    finally:
        for process in started.values():
            process.kill()


def all_is_well_behind_them(processes: dict[str, Process]) -> None:
    """Send a message and a dead letter after all that; look at who had to get by."""
    parcel, behind = Parcel.objects.create(), an_envelope()
    dead_letter_in_broker(seal(behind, to=TASK))
    with transaction.atomic():
        publish(Sampled(sample_id=parcel.pk))
    effects = Effect.objects.filter(sample_id=parcel.pk)
    logs = "\n".join(f"--- {name}\n{process.output()[-3000:]}" for name, process in processes.items())
    wait_until(DeadLetter.objects.filter(message_id=behind.message_id).exists, seconds=90, what=f"the letter in {logs}")
    wait_until(effects.exists, seconds=60, what=f"the effect of the message behind them in {logs}")
    assert {name: process.exit_code for name, process in processes.items()} == dict.fromkeys(processes)
    peaks = {name: peak_bytes(process.pid) for name, process in processes.items()}
    assert {name: peak for name, peak in peaks.items() if peak >= LIMIT_BYTES} == {}


def test_hostile_messages_end_nobody_and_stop_nothing_behind_them(processes: dict[str, Process]) -> None:
    for message in hostile_messages():
        for queue in (QUEUE, DEAD):
            put(queue, *message)
    all_is_well_behind_them(processes)
    kept = DeadLetter.objects.filter(message_id=None)
    bodies = {body for body, _headers, _properties in hostile_messages()}
    wait_until(lambda: kept.count() >= len(bodies), seconds=60, what="a row for each body")
    assert max(map(len, kept.values_list("raw", flat=True))) < 300_000


def test_nested_headers_end_nobody(processes: dict[str, Process]) -> None:
    nested: dict[str, Any] = {}
    for _ in range(900):
        nested = {"a": nested}
    for queue in (QUEUE, DEAD):
        put(queue, "[[[]], {}, {}]", {"task": "sample.die", "id": nested, "any": nested}, {})
    all_is_well_behind_them(processes)
