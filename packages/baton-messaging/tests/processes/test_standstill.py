"""Time in which nothing ran counts against no limit: a worker that was stopped, children and all."""

import os
import signal
from pathlib import Path
from uuid import uuid4

import pytest
from baton_dev.testing.processes import running, wait_until, worker_command
from baton_messaging.models import Heartbeat, Interruption, ProcessedMessage
from baton_messaging.processes import standstill as standstill_module
from baton_messaging.processes.standstill import MIN_SECONDS, Standstill

from tests.processes.conftest import OneBroker
from tests.processes.test_in_flight import holding, what_runs
from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db(transaction=True)


# On Redis its message would go back to the queue meanwhile, and be delivered once more.
@pytest.mark.parametrize("either", ["rabbitmq"], indirect=True)
def test_a_worker_that_stood_still_for_longer_than_a_limit_goes_on_and_says_so(
    either: OneBroker, tmp_path: Path
) -> None:
    with running(worker_command("sample"), log=tmp_path / "w.log", ready=" ready.", env=either.env) as worker:
        with holding():
            either.send(Sampled(sample_id=uuid4(), behaviour="held"))  # limits: 6 and 8 s
            what_runs(worker)
            rows = Heartbeat.objects.filter(pid=worker.pid)
            os.killpg(worker.pid, signal.SIGSTOP)
            try:
                wait_until(lambda: rows.get().age_seconds > 9, what="nine seconds of standstill")
            finally:
                os.killpg(worker.pid, signal.SIGCONT)
            stood = wait_until(lambda: rows.exclude(stood_still_seconds=None).first(), what="a beat that says so")
            assert (stood.stood_still_seconds or 0) > 5
            assert "process_stood_still" in worker.output()
        wait_until(ProcessedMessage.objects.exists, what="a message that is done")
    assert not Interruption.objects.exists()
    assert "SoftTimeLimitExceeded" not in worker.output()


def test_only_what_is_late_by_seconds_is_a_standstill(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(standstill_module, "clock", lambda: now[0])
    standstill = Standstill()
    assert standstill.look() == 0  # nobody looks regularly
    standstill._looked = now[0]
    now[0] += MIN_SECONDS
    assert standstill.look() == 0
    now[0] += 61
    assert standstill.look() == 60
    now[0] += 5
    assert standstill.last_age == 5
