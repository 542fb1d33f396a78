"""Consumers of the samples: each does as the event tells it."""

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from baton_messaging.consumer import consumer
from baton_messaging.errors import PermanentError, TransientError
from baton_messaging.models import Attempt
from baton_messaging.publish import publish
from baton_messaging.scheduled import scheduled_task
from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import IntegrityError, connection

from tests.parcels.events import ParcelHandedIn
from tests.sample.events import Chained, Doomed, Fleeting, Listed, Sampled, Weighed
from tests.sample.models import Effect

REPAIRED = Path(settings.CELERY_BEAT_SCHEDULE_FILENAME).with_name("repaired")
HELD = 4712  # any number that no other advisory lock has


class UnpicklableError(Exception):
    def __init__(self) -> None:
        super().__init__("holds a socket, a lock and a lambda")
        self.handler = lambda: None


def behave(behaviour: str, seconds: float = 0) -> None:  # noqa: PLR0912 - one case per misbehaviour
    """Do what the event asks for, after the effect was written."""
    match behaviour:
        case "ok":
            time.sleep(seconds)
        case "transient":
            raise TransientError("the outside is away")
        case "transient_once":
            if not Attempt.objects.exists():
                raise TransientError("the outside is away, this once")
        case "permanent":
            raise PermanentError("this will never do")
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "memory":
            raise MemoryError
        case "unpicklable":
            raise UnpicklableError
        case "exit":
            raise SystemExit(3)
        case "nul":
            raise ValueError("a NUL \x00 and a lone surrogate \ud800")
        case "row_gone":
            Effect.objects.get(pk=-1)
        case "held":  # until a test lets it go on
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [HELD])
        case "hang":
            time.sleep(60)
        case "hang_on":  # the soft limit is swallowed, so the hard one ends the process
            while True:
                with suppress(SoftTimeLimitExceeded):
                    time.sleep(60)
        case "broken_query":
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1/0")
        case "swallow":
            with suppress(IntegrityError):
                Effect.objects.create(pk=Effect.objects.latest("pk").pk)
        case "drop_connection":
            if not Attempt.objects.exists():
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


@consumer(Sampled, soft_time_limit=6, time_limit=8, retry_backoff=0.5, retry_jitter=False, max_retries=2)
def take_one(event: Sampled) -> None:
    """Write an effect, publish a follow-up, then behave as told."""
    Effect.objects.create(sample_id=event.sample_id, consumer="take_one")
    publish(Chained(sample_id=event.sample_id))
    behave(event.behaviour, event.seconds)


@consumer(Chained)
def follow(event: Chained) -> None:
    """Write an effect of the follow-up."""
    Effect.objects.create(sample_id=event.sample_id, consumer="follow")


@consumer(Listed, bundle=True, max_retries=0)
def take_list(events: list[Listed]) -> None:
    """Write all effects in one statement, then behave as told."""
    Effect.objects.bulk_create([Effect(sample_id=event.sample_id, consumer="take_list") for event in events])
    for event in events:
        behave(event.behaviour)


@consumer(Doomed, soft_time_limit=2, time_limit=3, retry_backoff=0.1, retry_jitter=False, max_retries=1)
def die(event: Doomed) -> None:
    """Write an effect, then behave as told; the tests tell it by a file, too, that the fault is repaired."""
    Effect.objects.create(sample_id=event.sample_id, consumer="die")
    if not REPAIRED.exists():
        behave(event.behaviour)


@consumer(ParcelHandedIn)
def weigh(event: ParcelHandedIn) -> None:
    """Write an effect of another app's event, and answer it."""
    Effect.objects.create(sample_id=event.parcel_id, consumer="weigh")
    publish(Weighed(parcel_id=event.parcel_id))


@consumer(Fleeting, expires=0.001)
def catch(event: Fleeting) -> None:
    """Write an effect; but it is always too late."""
    Effect.objects.create(sample_id=event.sample_id, consumer="catch")


@scheduled_task("sample.fail_by_schedule", soft_time_limit=5, time_limit=10)
def fail_by_schedule() -> None:
    """Fail, as housekeeping does while its database is away."""
    raise ConnectionError


@shared_task(name="sample.raise_text", ignore_result=False)
def raise_text(text: str) -> None:
    """Fail with a text that comes as JSON, which can say what a database cannot store."""
    raise ValueError(json.loads(text))
