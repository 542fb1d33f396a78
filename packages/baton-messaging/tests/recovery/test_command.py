"""``manage.py reconcile``."""

import json
from io import StringIO
from typing import Any

import pytest
from baton_messaging.conf import Team
from baton_messaging.health.diagnosis import Status
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.models import Attempt
from baton_messaging.recovery import reconciler
from baton_messaging.recovery.findings import Contradiction
from celery import current_app
from django.core.management import CommandError, call_command

from tests.recovery.situations import CONSUMER, lose, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def reconcile(*words: str) -> str:
    out = StringIO()
    call_command("reconcile", *words, stdout=out)
    return out.getvalue()


def test_a_dry_run_says_what_would_be_sent() -> None:
    send(2)
    lose()
    assert f"{CONSUMER}: 2 lost by the broker, would be sent again." in reconcile("--dry-run")
    assert not Attempt.objects.exists()
    found: dict[str, Any] = json.loads(reconcile("--format", "json"))
    assert (found["lost"], found["sent_again_count"]) == ({CONSUMER: 2}, 2)
    assert "Nothing is lost." in reconcile()


def test_what_cannot_be_repaired_is_told_with_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    about, shop = Resource(Kind.DATA, "parcels"), Team("Shop", "shop@example.com")
    finding = Contradiction(
        about, "parcels without a message", Status.FINDING, "2: a, b", remedy="Mend it.", owner=shop
    )
    monkeypatch.setattr(reconciler, "findings", lambda: [finding])
    assert "parcels without a message: 2: a, b. Shop <shop@example.com>: Mend it." in reconcile()


def test_a_broker_that_does_not_answer_is_exit_code_2(monkeypatch: pytest.MonkeyPatch) -> None:
    send()
    lose()
    monkeypatch.setattr(current_app.conf, "broker_read_url", "redis://127.0.0.1:1/0")
    with pytest.raises(CommandError, match="Nothing was sent") as caught:
        reconcile()
    assert caught.value.returncode == 2
    assert not Attempt.objects.exists()
