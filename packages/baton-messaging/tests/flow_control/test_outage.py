"""An outage and a pause with real processes: nothing dies of either, nothing is lost, and nothing happens twice."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from baton_dev.testing.processes import wait_until
from baton_messaging.audit.actors import Actor
from baton_messaging.diagnosis.progress import progress_of
from baton_messaging.flow_control.pauses import Target, pause, resume
from baton_messaging.models import Circuit, DeadLetter
from baton_messaging.publish import publish
from django.db import transaction

from tests.sample.events import Doomed
from tests.sample.models import Effect
from tests.sample.tasks import REPAIRED

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("relay", "worker"),
    pytest.mark.timeout(240),
]
ANN = Actor(name="ann", via="command")


@pytest.fixture(autouse=True)
def _outage() -> Iterator[None]:
    REPAIRED.unlink(missing_ok=True)
    yield
    REPAIRED.unlink(missing_ok=True)


def place(count: int, *, behaviour: str) -> list[UUID]:
    ids = [uuid4() for _ in range(count)]
    with transaction.atomic():
        publish(*(Doomed(sample_id=sample_id, behaviour=behaviour) for sample_id in ids))
    return ids


def are_done(ids: list[UUID]) -> bool:
    return sorted(Effect.objects.values_list("sample_id", flat=True)) == sorted(ids)


def test_an_outage_longer_than_all_retries_ends_with_every_effect_once() -> None:
    ids = place(4, behaviour="transient")  # of a consumer that gives up after its second attempt
    wait_until(Circuit.objects.open().exists, what="an open circuit")
    ids += place(2, behaviour="transient")
    wait_until(lambda: Circuit.objects.get().probe_count >= 1, seconds=40, what="a probe that failed")
    states = {progress.state for sample_id in ids for progress in progress_of(str(sample_id))}
    assert states <= {"waiting", "queued", "retrying"}
    assert not DeadLetter.objects.exists()
    REPAIRED.touch()
    wait_until(lambda: are_done(ids), seconds=120, what="every effect, once")
    wait_until(lambda: not Circuit.objects.open().exists(), what="a closed circuit")
    assert not DeadLetter.objects.exists()


def test_a_pause_holds_until_it_is_resumed() -> None:
    pause(Target(consumer="sample.die"), actor=ANN, why="x")
    ids = place(3, behaviour="ok")
    wait_until(lambda: progress_of(str(ids[0]))[0].error, what="a reason")
    assert not Effect.objects.exists()
    resume(Target(consumer="sample.die"), actor=ANN)
    wait_until(lambda: are_done(ids), seconds=30, what="every effect, once")
