"""Triage in the browser: for staff only, whatever is asked, and without a secret."""

from datetime import timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.models import DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import Reason
from baton_messaging.publish import publish
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.dead_letters.factories import an_operator
from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


@pytest.fixture
def staff(db: None) -> Client:
    client = Client()
    client.force_login(an_operator("view", name="sam"))
    return client


@pytest.fixture
def key() -> str:
    sample_id = uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=sample_id))
    return str(sample_id)


def test_nobody_but_staff_gets_in(key: str) -> None:
    customer = Client()
    customer.force_login(User.objects.create_user("carl"))
    for client in (Client(), customer):
        for url in (reverse("triage"), reverse("triage_of", args=[key]), reverse("sample_triage", args=[uuid4()])):
            answer = client.get(url)
            assert (answer.status_code, answer.url.partition("?")[0]) == (302, reverse("admin:login"))  # type: ignore[attr-defined]


def test_the_page_says_what_where_whose_and_what_next(staff: Client, key: str) -> None:
    page = staff.get(reverse("triage_of", args=[key])).content.decode().replace("<wbr>", "")
    for text in ("sample.take_one", "relay stalled (no relay lives)", "still in the outbox", "Platform team"):
        assert text in page
    assert "python manage.py relay" in page
    assert 'hx-trigger="every 3s"' in page


def test_htmx_gets_the_verdicts_only_and_is_told_when_all_is_over(staff: Client, key: str) -> None:
    url = reverse("triage_of", args=[key])
    polled = staff.get(url, headers={"HX-Request": "true"})
    assert (polled.status_code, b"<html" in polled.content) == (200, False)
    dead_letter = DeadLetter.objects.create(
        message_id=None, consumer="sample.die", owner="", reason=Reason.EXPIRED, raw="x", fingerprint=""
    )
    over = staff.get(reverse("triage_of", args=[dead_letter.pk]), headers={"HX-Request": "true"})
    assert over.status_code == 286
    assert reverse("admin:baton_messaging_deadletter_change", args=[dead_letter.pk]) in over.content.decode()


def test_the_search_leads_to_the_page_and_refuses_what_is_no_id(staff: Client, key: str) -> None:
    found = staff.get(reverse("triage"), {"id": f" {key} "})
    assert found.url == reverse("triage_of", args=[key])  # type: ignore[attr-defined]
    for nonsense in ("no such thing", "a\x07b", "../admin", "x" * 300):
        refused = staff.get(reverse("triage"), {"id": nonsense})
        assert refused.status_code == 400
        assert "of which nothing is known" in refused.content.decode()


def test_who_asks_for_the_head_gets_it(staff: Client, key: str) -> None:
    for url in (reverse("triage"), reverse("triage_of", args=[key]), reverse("sample_triage", args=[uuid4()])):
        assert staff.head(url).status_code == 200


def test_what_is_stuck_is_listed_by_verdict(staff: Client) -> None:
    assert "Nothing is stuck" in staff.get(reverse("triage")).content.decode()


@pytest.mark.parametrize("odd", ["a b\nc", "", "..", "../admin", "<script>", "a/../b", "日本"])
def test_a_key_that_fits_in_no_path_is_listed_and_asked_for(staff: Client, odd: str) -> None:
    with transaction.atomic():
        publish(Sampled(sample_id=uuid4()))
    OutboxMessage.objects.update(key=odd, occurred_at=timezone.now() - timedelta(hours=1))
    page = staff.get(reverse("triage"))
    link = f"{reverse('triage')}?{urlencode({'id': odd})}"
    assert (page.status_code, f'href="{link}"' in page.content.decode()) == (200, True)
    answer = staff.get(link)
    assert (answer.status_code, "relay stalled" in answer.content.decode()) == (200, True)
    assert "<script>" not in page.content.decode().partition('id="stuck"')[2].partition("</main>")[0]


def test_a_table_that_a_migration_holds_is_told_on_the_page_of_what_is_stuck(staff: Client) -> None:
    with dedicated_connection() as migration, migration.cursor() as cursor:
        cursor.execute("BEGIN; LOCK TABLE baton_outbox IN ACCESS EXCLUSIVE MODE")
        for url, headers in (("", {}), ("", {"HX-Request": "true"}), (f"?id={uuid4()}", {})):
            answer = staff.get(f"{reverse('triage')}{url}", headers=headers)
            assert (answer.status_code, "pg_terminate_backend" in answer.content.decode()) == (200, True)
        cursor.execute("ROLLBACK")


def test_the_pages_speak_japanese(staff: Client, key: str) -> None:
    page = staff.get(reverse("triage_of", args=[key]), headers={"Accept-Language": "ja"}).content.decode()
    assert "Action needed" not in page
    assert "担当を調べる" in page
