"""Every page within the admin, in django-unfold's and in Django's own."""

import json
import os
import subprocess
import sys

import pytest
from baton_dev.testing.processes import process_environment
from baton_messaging.flow_control.pauses import Target, pause
from django.contrib.auth.models import User

from tests.dead_letters.factories import SHELL, a_letter
from tests.diagnosis.doctor.conftest import beat

UNFOLD, PLAIN = "tests.settings", "tests.project.plain_admin"
DESK = "/admin/baton_messaging/deadletter"


def pages(letter_id: int) -> dict[str, str]:
    """Return the paths, each with what its page says."""
    return {
        "/admin/": "Dead letters",
        f"{DESK}/": "no such template",
        f"{DESK}/letters/?state=open": "no such template",
        f"{DESK}/{letter_id}/change/": f"Dead letter {letter_id}",
        f"{DESK}/{letter_id}/edit/": "Edit and replay",
        f"{DESK}/replay/?ids={letter_id}": "What a replay would do",
        f"{DESK}/discard/?ids={letter_id}": "1 open dead letter would be discarded.",
        f"{DESK}/restore/?ids={letter_id}": "0 discarded dead letters would be open again.",
        f"{DESK}/redirect/?ids={letter_id}": "for a consumer that this release does not have",
        f"{DESK}/replays/": "Replays",
        f"{DESK}/audit/": "Audit of the dead letters",
        "/admin/baton_messaging/pause/": "the mail server moves",
        "/admin/baton_messaging/pause/add/": "Or one key of an event",
        "/admin/baton_messaging/circuit/": "Circuit breakers",
        "/admin/baton_messaging/heartbeat/": "relay@test",
        "/admin/baton_messaging/outboxmessage/": "Outbox messages",
        "/admin/baton_messaging/processedmessage/": "Processed messages",
        "/admin/baton_messaging/attempt/": "Failed attempts",
        "/admin/django_celery_results/taskresult/": "Task results",
        "/ops/": "From the web to the broker",
        "/doctor/": "python manage.py doctor",
        "/doctor/?part=answers": "to fix",
        "/triage/": "What is stuck",
        f"/triage/{letter_id}/": "dead (permanent error)",
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("empty_broker")
@pytest.mark.parametrize("admin", [UNFOLD, PLAIN])
def test_every_page_opens_in_both_admins(admin: str) -> None:
    User.objects.create_superuser("root")
    wanted = pages(a_letter().pk)
    pause(Target(consumer="sample.take_one"), actor=SHELL, why="the mail server moves")
    beat("relay@test", "relay")
    command = [sys.executable, "-m", "tests.ui.admin.open_pages", *wanted]
    environment = {**os.environ, **process_environment(), "DJANGO_SETTINGS_MODULE": admin}
    opened = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert opened.returncode == 0, opened.stderr
    answers = json.loads(opened.stdout.splitlines()[-1])
    assert {path: status for path, (status, _html) in answers.items() if status != 200} == {}, opened.stderr
    assert {path: text for path, text in wanted.items() if text not in answers[path][1]} == {}
    whole = [html for _status, html in answers.values() if "<html" in html]
    assert all(("unfold/css" in html) == (admin == UNFOLD) for html in whole)
    live = [html for html in whole if 'class="desk' in html]
    assert len(live) == 14
    assert all("htmx" in html and ("django_admin.css" in html) == (admin == PLAIN) for html in live)
