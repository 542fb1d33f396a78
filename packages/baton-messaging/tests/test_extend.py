"""What apps may add and ask: cheap to import, and each lookup says what its rows say."""

import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from baton_messaging.conf import baton
from baton_messaging.extend import owner_of, owner_of_queue
from baton_messaging.extend.findings import LOOKED_AT_FOR, SETTLED_AFTER, Rows, keys_processed, was_published
from baton_messaging.models import ProcessedMessage
from baton_messaging.publish import publish
from baton_messaging.recovery.findings import recent
from baton_messaging.routing.queues import UnknownQueue
from baton_messaging.testing import deliver
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, UUIDField
from django.db.models.functions import Cast, Now
from django.test import Client
from django.utils import timezone

from tests.dead_letters.factories import an_operator
from tests.sample.events import Chained, Sampled
from tests.sample.models import Effect
from tests.sample.tasks import follow, take_one

HAS_EFFECT = Exists(Effect.objects.filter(sample_id=Cast(OuterRef("key"), UUIDField())))


@transaction.atomic
def sampled_and_processed() -> UUID:
    """Let ``take_one`` process a message as old as a check looks at; return its key."""
    event = Sampled(sample_id=uuid4())
    publish(event)
    deliver(event, to=take_one)
    ProcessedMessage.objects.update(processed_at=Now() - SETTLED_AFTER - timedelta(minutes=1))
    return event.sample_id


def test_the_window_ends_when_all_has_had_its_time() -> None:
    rows = recent()
    assert rows.before - rows.after == LOOKED_AT_FOR
    assert timedelta(0) <= timezone.now() - rows.before - SETTLED_AFTER < timedelta(seconds=5)


@pytest.mark.django_db
def test_a_row_was_published_if_the_outbox_has_that_event_about_it() -> None:
    told, untold = (Effect.objects.create(sample_id=uuid4(), consumer="x") for _ in range(2))
    publish(Sampled(sample_id=told.sample_id), Chained(sample_id=untold.sample_id))
    assert list(Effect.objects.filter(was_published(Sampled, key="sample_id"))) == [told]
    assert list(Effect.objects.filter(~was_published(Sampled, key="sample_id"))) == [untold]


@pytest.mark.django_db
def test_keys_are_those_that_the_consumer_processed_in_that_time_and_no_row_accounts_for() -> None:
    kept, lost = sampled_and_processed(), sampled_and_processed()
    Effect.objects.filter(sample_id=lost).delete()
    rows = recent()
    assert keys_processed(take_one.name, rows, unless=HAS_EFFECT) == [str(lost)]
    assert keys_processed(follow.name, rows, unless=HAS_EFFECT) == []
    assert keys_processed(take_one.name, Rows(rows.before, timezone.now()), unless=HAS_EFFECT) == []
    Effect.objects.filter(sample_id=kept).delete()
    assert keys_processed(take_one.name, rows, unless=HAS_EFFECT) == [str(kept), str(lost)]
    assert keys_processed(take_one.name, replace(rows, keys=(str(kept), "x")), unless=HAS_EFFECT) == [str(kept)]


@pytest.mark.django_db
def test_a_message_whose_place_an_edited_copy_took_was_processed_by_nobody() -> None:
    sampled_and_processed()
    Effect.objects.all().delete()
    ProcessedMessage.objects.update(worker="replaced by a copy")
    assert keys_processed(take_one.name, recent(), unless=HAS_EFFECT) == []


def test_a_queue_has_its_owner_and_an_unknown_one_is_refused() -> None:
    assert owner_of_queue("sample") == owner_of("sample.take_one")
    with pytest.raises(UnknownQueue, match="no_such"):
        owner_of_queue("no_such")
    assert owner_of("no_such.consumer") == owner_of_queue(baton().platform_queue)


def test_asking_imports_nothing_that_only_doctor_triage_or_metrics_need() -> None:
    probe = """
import sys, django
from django.conf import settings
settings.configure(INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "baton_messaging"])
django.setup()
import baton_messaging.extend
print(*sys.modules)
"""
    ended = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    foreign = ("diagnosis.doctor", "diagnosis.triage", "observability.prometheus", "recovery", "ui.api", "testing")
    loaded = ended.stdout.split()
    assert "baton_messaging.extend" in loaded
    assert "prometheus_client" not in loaded
    assert [name for name in loaded if name.startswith(tuple(f"baton_messaging.{room}" for room in foreign))] == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("empty_broker")
def test_triage_is_mounted_beside_an_apps_own_api_for_the_staff() -> None:
    key = sampled_and_processed()
    address, staff = f"/api/samples/{key}/triage", Client()
    assert Client().get(address).status_code == 401
    staff.force_login(User.objects.create_user("tim", is_staff=True))
    assert staff.get(address).status_code == 403
    staff.force_login(an_operator("view", name="sam"))
    verdicts = staff.get(address).json()["verdicts"]
    assert [(one["consumer"], one["state"]) for one in verdicts if one["event"] == "sample.sampled"] == [
        ("sample.take_one", "done")
    ]
    unknown = staff.get(f"/api/samples/{uuid4()}/triage")
    assert unknown.status_code == 404
    assert unknown.json()["detail"].startswith("Expected the id of a sample, found none with ")
