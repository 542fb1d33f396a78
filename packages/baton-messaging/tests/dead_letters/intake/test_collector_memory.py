"""The collector survives in 256 MB whatever somebody puts into its queue, and the dead letter behind it arrives."""

import re
import resource
import zlib
from pathlib import Path

import pytest
from baton_dev.testing.processes import Process, collector_command, wait_until
from baton_messaging.messages.envelope import seal
from baton_messaging.models import DeadLetter

from tests.dead_letters.dead_letter_queue import TASK, dead_letter_in_broker, publish
from tests.dead_letters.factories import an_envelope

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]

LIMIT_BYTES = 256 * 1024 * 1024
UNPACKED_BYTES = 500_000_000
GZIP = {"compression": "application/x-gzip", "task": "sample.die"}


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """Half a megabyte that unpacks to half a gigabyte."""
    packer, block = zlib.compressobj(), b"0" * 1_000_000
    return b"".join([*(packer.compress(block) for _ in range(UNPACKED_BYTES // len(block))), packer.flush()])


def peak_bytes(process: Process) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) * 1024


def test_hostile_bodies_neither_end_the_collector_nor_stop_the_dead_letter_behind_them(
    bomb: bytes, tmp_path: Path
) -> None:
    collector = Process(collector_command(), log=tmp_path / "collector.log")
    try:
        collector.wait_for_output("collector_started")
        resource.prlimit(collector.pid, resource.RLIMIT_DATA, (LIMIT_BYTES, LIMIT_BYTES))
        for _ in range(3):
            publish(bomb, headers=GZIP, content_encoding="binary", content_type="application/data")
        publish("[" * 5_000_000, headers={"task": "sample.die"})
        publish("[" + "[]," * 2_500_000 + "[]]", headers={"task": "sample.die"})
        publish("x" * 30_000_000, headers={"task": "sample.die"})
        behind = an_envelope()
        dead_letter_in_broker(seal(behind, to=TASK))

        arrived = DeadLetter.objects.filter(message_id=behind.message_id)
        wait_until(arrived.exists, seconds=60, what=f"the dead letter behind them in:\n{collector.output()[-3000:]}\n…")
        assert collector.exit_code is None
        assert peak_bytes(collector) < LIMIT_BYTES
        assert DeadLetter.objects.exclude(message_id=behind.message_id).count() == 4  # three bombs are one
        assert max(map(len, DeadLetter.objects.values_list("raw", flat=True))) < 300_000
    finally:
        collector.kill()
