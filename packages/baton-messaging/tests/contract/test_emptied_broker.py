"""The broker loses everything while parcels are under way, and yet all is done, once: real workers, both brokers.

EMPTIED_PARCEL_COUNT says how many parcels (40).
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from baton_dev.servers.embedded import Valkey
from baton_dev.testing.broker_queues import lose_everything
from baton_dev.testing.drain import wait_until_database_is_idle
from baton_dev.testing.processes import Process, relay_command, wait_until, worker_command
from baton_dev.testing.rabbitmq import RabbitMQ, skip_without_rabbitmq
from baton_dev.testing.reconciliation import reconcile_until_settled, unsettled_count
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage, ProcessedMessage, Recovery
from baton_messaging.publish import publish
from django.db import connection, transaction
from django.db.models import Count, Sum
from django.db.models.functions import Now

from tests.parcels import services
from tests.parcels.models import Parcel, Stamp
from tests.sample.events import Sampled
from tests.sample.models import Effect

PARCEL_COUNT = int(os.environ.get("EMPTIED_PARCEL_COUNT", "40"))
SETTLE_SECONDS = 150 + PARCEL_COUNT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(SETTLE_SECONDS + 150)]


@pytest.fixture(params=["valkey", "rabbitmq"])
def service(request: pytest.FixtureRequest) -> Valkey | RabbitMQ:
    if request.param == "rabbitmq":
        skip_without_rabbitmq()
    found: Valkey | RabbitMQ = request.getfixturevalue(request.param)
    found.start()
    return found


@pytest.fixture
def start(service: Valkey | RabbitMQ, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start processes of Baton on the broker; they are killed at the end."""
    with ExitStack() as stack:

        def start(name: str, command: list[str]) -> Process:
            process = Process(command, log=tmp_path / f"{name}.log", env={"CELERY_BROKER_URL": service.url})
            stack.callback(process.kill)
            return process

        yield start
    wait_until_database_is_idle()


def test_everything_that_an_emptied_broker_lost_is_done_and_each_effect_once(
    service: Valkey | RabbitMQ, start: Callable[..., Process], transactional_db: None
) -> None:
    lose_everything(service)
    start("relay", relay_command())
    worker = start("worker", worker_command("parcels", "baton"))
    worker.wait_for_output(" ready.")

    # No worker consumes the samples and the lane yet: a first delivery, a retry and all parcels wait in the broker.
    # So none can be through before they are lost.
    first_id = uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=first_id))
    retried = a_retry()
    for _ in range(PARCEL_COUNT):
        services.hand_in()
    wait_until(lambda: not Attempt.objects.filter(sent_at=None).exists(), what="the retry on its way")
    wait_until(lambda: ProcessedMessage.objects.count() >= PARCEL_COUNT // 4, what="parcels under way")
    lose_everything(service)
    in_the_middle = unsettled_count()
    assert not Parcel.objects.filter(is_shipped=True).exists()
    start("late-worker", worker_command("parcels.bulk", "sample"))
    found = reconcile_until_settled(start, seconds=SETTLE_SECONDS)

    assert unsettled_count() == 0, found.last
    assert found.sent_again_count >= 3
    assert Recovery.objects.aggregate(total=Sum("message_count"))["total"] == found.sent_again_count
    assert not DeadLetter.objects.exists()
    assert Parcel.objects.filter(is_shipped=True).count() == PARCEL_COUNT
    stamps = dict(Stamp.objects.values_list("consumer").annotate(Count("pk")))
    assert stamps == dict.fromkeys(["count", "archive", "ship"], PARCEL_COUNT)
    effects = dict(Effect.objects.values_list("consumer").annotate(Count("pk")))
    assert effects == {"weigh": PARCEL_COUNT, "take_one": 2, "follow": 2}
    assert [Effect.objects.filter(sample_id=one, consumer="take_one").count() for one in (first_id, retried)] == [1, 1]
    sys.stdout.write(
        f"{type(service).__name__}: {PARCEL_COUNT} parcels, {in_the_middle} messages unsettled when the broker was "
        f"emptied, {found.sent_again_count} sent again, all settled after {found.seconds:.0f} s and "
        f"{found.tick_count} ticks\n"
    )


def a_retry() -> Any:
    """Publish a message whose first attempt has failed; the relay sends its retry. Return the sample's id."""
    sample_id = uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=sample_id))
        row = OutboxMessage.objects.get(key=str(sample_id))
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE baton_outbox SET published_at = now(), sent_to = '{sample.take_one}' WHERE id = %s",
                [row.pk],
            )
        Attempt.objects.create(
            message_id=row.message_id,
            consumer="sample.take_one",
            attempt=1,
            key=row.key,
            envelope=row.envelope().as_dict(),
            error_class="TimeoutError",
            due_at=Now(),
        )
    return sample_id
