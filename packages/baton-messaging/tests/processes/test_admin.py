"""Admin → Processes: to look at."""

from uuid import uuid4

import pytest
from baton_messaging.models import Heartbeat
from django.contrib.admin import site
from django.test import Client
from django.urls import reverse

from tests.recovery.situations import hold

pytestmark = pytest.mark.django_db


def test_the_list_and_a_row_of_it_open_and_offer_no_change(admin_client: Client) -> None:
    message_id = uuid4()
    living, dead = hold([message_id]), hold([], beaten_seconds_ago=60)
    answer = admin_client.get(reverse("admin:baton_messaging_heartbeat_changelist"))
    assert living.name in answer.text
    assert dead.name in answer.text
    shown = {row.name: site._registry[Heartbeat].lives(row) for row in Heartbeat.objects.all()}  # type: ignore[attr-defined]
    assert shown == {living.name: True, dead.name: False}
    page = admin_client.get(reverse("admin:baton_messaging_heartbeat_change", args=[living.pk]))
    assert str(message_id) in page.text
    assert 'name="_save"' not in page.text
    assert admin_client.get(reverse("admin:baton_messaging_heartbeat_add")).status_code == 403
