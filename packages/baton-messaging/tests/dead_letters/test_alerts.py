from datetime import timedelta
from typing import Any

import django
import pytest
from baton_messaging.conf import Team
from baton_messaging.dead_letters.alerts import Alert, send_alerts
from baton_messaging.dead_letters.operations.discard import discard
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.models import DeadLetter, GroupAlert
from baton_messaging.signals import dead_letters_alert
from django.core import mail
from django.utils import timezone

from tests.dead_letters.factories import SHELL, a_letter, letters

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def test_a_new_kind_of_failure_is_told_at_once_to_the_queue_s_owner_in_one_mail() -> None:
    letters(7, consumer="parcels.count", error_message="ann@example.com is not wanted here")
    assert send_alerts() == 1
    (letter,) = mail.outbox
    assert letter.to == ["warehouse@example.com"]
    assert letter.subject == "New kind of failure in parcels.count: permanent error"
    assert "Open dead letters: 7" in letter.body
    assert "/admin/baton_messaging/deadletter/" in letter.body
    assert "ann@example.com" not in letter.body


def test_a_group_gets_one_mail_a_period() -> None:
    now = timezone.now()
    letters(1)
    assert send_alerts(now) == 1
    letters(500)
    assert send_alerts(now + HOUR / 2) == 0
    assert send_alerts(now + HOUR) == 1
    assert "501 dead letters" in mail.outbox[1].subject
    assert send_alerts(now + 3 * HOUR) == 0  # it has not grown past the next count


def test_an_old_group_is_told_by_age_and_again_a_day_later() -> None:
    now = timezone.now()
    a_letter()
    assert send_alerts(now) == 1
    assert send_alerts(now + DAY / 2) == 0
    assert send_alerts(now + DAY + HOUR) == 1
    assert mail.outbox[1].subject == "Dead letters in sample.die are waiting: permanent error"
    assert send_alerts(now + DAY + 3 * HOUR) == 0
    assert send_alerts(now + 2 * DAY + 2 * HOUR) == 1


def test_a_failure_that_comes_back_after_it_was_dealt_with_is_news() -> None:
    first = a_letter()
    send_alerts()
    discard(Selection(ids=(first.pk,)), actor=SHELL, why="x")
    assert send_alerts() == 0
    assert not GroupAlert.objects.exists()
    a_letter()
    assert send_alerts() == 1


def test_two_groups_are_two_mails() -> None:
    a_letter(error_class="KeyError")
    a_letter(error_class="OSError")
    assert send_alerts() == 2


def send_mail_with(settings: Any, backend: str) -> None:
    if django.VERSION >= (6, 1):
        settings.MAILERS = {"default": {"BACKEND": backend}}
    else:
        settings.EMAIL_BACKEND = backend


def test_a_mail_server_that_is_away_costs_nothing_but_time(settings: Any) -> None:
    a_letter(error_class="KeyError")
    a_letter(error_class="OSError")
    send_mail_with(settings, "tests.dead_letters.no_mail.EmailBackend")
    assert send_alerts() == 0
    assert not GroupAlert.objects.exists()
    send_mail_with(settings, "django.core.mail.backends.locmem.EmailBackend")
    assert send_alerts() == 2


def test_a_chat_is_a_receiver_and_one_that_fails_stops_no_other() -> None:
    told: list[Alert] = []

    def chat(*, alert: Alert, **_kwargs: Any) -> None:
        told.append(alert)
        raise ConnectionError

    dead_letters_alert.connect(chat)
    try:
        a_letter()
        assert send_alerts() == 1
    finally:
        dead_letters_alert.disconnect(chat)
    assert [(alert.kind, alert.owner.name, alert.group.open_count) for alert in told] == [("new", "Platform team", 1)]
    assert len(mail.outbox) == 1


def test_the_number_of_queries_does_not_grow_with_the_groups(django_assert_max_num_queries: Any) -> None:
    for number in range(20):
        a_letter(error_class=f"Error{number}")
    send_alerts()
    with django_assert_max_num_queries(5):
        assert send_alerts() == 0
    assert DeadLetter.objects.count() == 20


def test_the_mail_names_the_cause_that_triage_would_name_and_goes_to_its_owner_too() -> None:
    a_letter(consumer="parcels.count")
    platform = Team("Platform team", "platform@example.com")
    cause = Diagnosis(
        Resource(Kind.SERVICE, "mail"), "mail", Status.FINDING, "mail does not answer", remedy="Bring it back.",
        owner=platform, command="systemctl start postfix",
    )  # fmt: skip
    assert send_alerts(cause_of=lambda _group: cause) == 1
    (letter,) = mail.outbox
    assert letter.to == ["platform@example.com", "warehouse@example.com"]
    assert "What is in its way now: mail does not answer" in letter.body
    assert "Whose: Platform team <platform@example.com>" in letter.body
    assert "Next step: Bring it back.\n    systemctl start postfix" in letter.body
