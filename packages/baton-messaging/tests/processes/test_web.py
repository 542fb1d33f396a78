"""A web process beats: from its first request on, and anew after a fork."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.install import with_heartbeat
from baton_messaging.models import Heartbeat
from baton_messaging.processes import web
from baton_messaging.processes.heartbeat import HeartbeatWriter

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _writers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End what a test has begun."""
    made: list[HeartbeatWriter] = []

    class Writer(HeartbeatWriter):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(web, "HeartbeatWriter", Writer)
    yield
    for one in made:
        one.stop("the end of the test")
    wait_until(lambda: not Heartbeat.objects.filter(pid=os.getpid()).exists(), what="a row that has ended")


def answer(_environ: dict[str, Any], _start: Any) -> list[bytes]:
    return [b"well"]


def test_the_first_request_begins_the_heartbeat_of_its_process() -> None:
    application = with_heartbeat(answer)
    assert [*application({}, None), *application({}, None)] == [b"well", b"well"]
    rows = Heartbeat.objects.filter(role="web", pid=os.getpid(), received_count=2, finished_count=2)
    row = wait_until(rows.first, what="a heartbeat")
    assert row.is_consuming
    wired = Heartbeat.objects.filter(role="web").filter(wiring__has_key="broker")
    assert wait_until(wired.first, what="its wiring").wiring["keys"]["signs"]


def test_a_child_that_was_forked_has_no_heartbeat_until_it_is_asked() -> None:
    application = with_heartbeat(answer)
    application.begin()
    child = os.fork()
    if not child:
        is_forgotten = application._pid == 0
        os._exit(0 if is_forgotten else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert Heartbeat.objects.filter(role="web").count() <= 1
