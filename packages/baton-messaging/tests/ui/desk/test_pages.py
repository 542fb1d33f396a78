"""The desk's pages: what they show, who may see what, and what they cost."""

import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.dead_letters.operations.replay import replay
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import Attempt, AuditEntry, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import Reason, State
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.dead_letters.factories import SHELL, a_letter, an_operator, apply, letters

pytestmark = pytest.mark.django_db

DESK = "/admin/baton_messaging/deadletter/"


def text_of(client: Client, path: str, *, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status, answer.content[:500]
    return re.sub(r"\s+", " ", re.sub(r"<wbr>", "", answer.content.decode()))


def test_eleven_failures_are_three_groups(operator: Client) -> None:
    letters(7, error_class="TemplateDoesNotExist", consumer="parcels.archive")
    letters(3, error_class="MailRefused", consumer="parcels.archive")
    letters(1, error_class="WorkerLost", reason=Reason.KILLED_WORKER)
    page = text_of(operator, DESK)
    assert "<strong>11</strong> dead letters are open" in page
    assert page.count('class="desk-card desk-group"') == 3
    assert "killed its worker" in page
    assert "parcels.archive" in page


def test_a_look_at_the_desk_settles_what_took_effect(operator: Client) -> None:
    letter = a_letter()
    replay(Selection(ids=(letter.pk,)), actor=SHELL)
    apply(letter)
    assert "No open dead letters." in text_of(operator, DESK)
    letter.refresh_from_db()
    assert letter.state == State.RESOLVED


@pytest.mark.parametrize("look_for", ["key", "message_id", "end of key", "error text", "error class", "consumer"])
def test_a_letter_is_found_by(look_for: str, operator: Client) -> None:
    letter = a_letter(uuid4(), error_message="the blue mug is broken", error_class="MugError")
    a_letter(uuid4())
    sought = {
        "key": letter.key,
        "message_id": letter.message_id,
        "end of key": letter.key[-12:].upper(),
        "error text": "BLUE mug",
        "error class": "mugerror",
        "consumer": "sample.die",
    }[look_for]
    page = text_of(operator, f"{DESK}letters/?text={sought}")
    assert f"{DESK}{letter.pk}/change/" in page
    assert page.count('name="ids" value=') == (2 if look_for == "consumer" else 1)


def test_a_letter_is_found_by_time(operator: Client) -> None:
    old = a_letter(died_at=timezone.now() - timedelta(days=2))
    new = a_letter()
    yesterday = (timezone.now() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    assert f"{new.pk}/change/" in (page := text_of(operator, f"{DESK}letters/?since={yesterday}"))
    assert f"{old.pk}/change/" not in page
    assert f"{old.pk}/change/" in (page := text_of(operator, f"{DESK}letters/?until={yesterday}"))
    assert f"{new.pk}/change/" not in page


@pytest.mark.parametrize(
    "query", ["since=yesterday", "ids=x", "state=lost", "nonsense=1", "ids=9999999999999999999999"]
)
def test_a_selection_that_is_none_is_refused_with_its_reason(query: str, operator: Client) -> None:
    a_letter()
    assert "Expected" in text_of(operator, f"{DESK}letters/?{query}", status=400)
    assert "Expected" in text_of(operator, f"{DESK}replay/?{query}", status=400)


def test_a_letter_s_page_tells_all_that_is_known(operator: Client) -> None:
    letter = a_letter(uuid4(), behaviour="permanent")
    OutboxMessage.of(letter.open_envelope()).save()
    Attempt.objects.create(
        message_id=letter.open_envelope().message_id,
        consumer=letter.consumer,
        attempt=1,
        key=letter.key,
        envelope=letter.envelope,
        error_class="FirstError",
        due_at=timezone.now(),
        sent_at=timezone.now(),
    )
    page = text_of(operator, f"{DESK}{letter.pk}/change/")
    for expected in (
        letter.key,
        str(letter.message_id),
        "no such template",
        "Traceback (most recent call last)",
        "FirstError",
        "&quot;behaviour&quot;: &quot;permanent&quot;",
        "Platform team &lt;platform@example.com&gt;",
        "All messages about this key",
        "1 of at most 2 attempts",
    ):
        assert expected in page, expected


def test_what_came_from_outside_is_shown_and_not_run(operator: Client) -> None:
    letter = a_letter(
        envelope=None,
        message_id=None,
        raw="<script>alert(1)</script>",
        error_message="<img onerror=x>",
        consumer="a<b>",
    )
    for path in (DESK, f"{DESK}letters/", f"{DESK}{letter.pk}/change/"):
        page = text_of(operator, path)
        assert "<script>alert" not in page
        assert "<img onerror" not in page
        assert "a<b>" not in page


def test_a_letter_that_does_not_exist_is_404(operator: Client) -> None:
    assert operator.get(f"{DESK}1/change/").status_code == 404
    assert operator.get(f"{DESK}1/edit/").status_code == 404
    assert operator.get(f"{DESK}replays/1/").status_code == 404


PAGES = ["", "letters/", "letters/?state=open", "replays/", "audit/", "{letter}/change/"]


@pytest.mark.parametrize("path", PAGES)
def test_who_may_not_see_dead_letters_is_told_so(path: str, client: Client) -> None:
    letter = a_letter()
    path = DESK + path.format(letter=letter.pk)
    assert client.get(path).status_code == 302  # log in first
    client.force_login(an_operator(name="nobody"))
    assert client.get(path).status_code == 403


def test_who_may_only_look_is_offered_nothing_else(viewer: Client) -> None:
    letter = a_letter()
    for path in (DESK, f"{DESK}letters/?state=open", f"{DESK}{letter.pk}/change/"):
        page = text_of(viewer, path)
        for offered in ("Replay…", "Discard…", "Edit and replay…", "Redirect…", "Restore…"):
            assert offered not in page
    for path in ("replay/?ids=", "discard/?ids=", "restore/?ids=", "redirect/?ids="):
        assert viewer.get(f"{DESK}{path}{letter.pk}").status_code == 403
    assert viewer.get(f"{DESK}{letter.pk}/edit/").status_code == 403


def test_who_sends_a_form_without_the_right_is_refused_and_audited(viewer: Client) -> None:
    letter = a_letter()
    ids = f"?ids={letter.pk}"
    pace = {"canary_count": 0, "rate_per_second": 0, "why": "x"}
    assert viewer.post(f"{DESK}replay/{ids}", pace).status_code == 403
    assert viewer.post(f"{DESK}discard/{ids}", {"why": "x"}).status_code == 403
    assert viewer.post(f"{DESK}restore/{ids}", {"why": "x"}).status_code == 403
    edit = {"payload": '{"sample_id": "01900000-0000-7000-8000-000000000000"}', "version": 1, "why": "x"}
    assert viewer.post(f"{DESK}{letter.pk}/edit/", edit).status_code == 403
    assert viewer.post(f"{DESK}replays/1/stop/").status_code == 403
    letter.refresh_from_db()
    assert letter.state == State.OPEN
    assert set(AuditEntry.objects.values_list("actor", "outcome")) == {("vera", "refused")}
    assert set(AuditEntry.objects.values_list("action", flat=True)) == {"replay", "discard", "restore", "edit", "stop"}


def test_a_replay_begins_with_the_dry_run_and_ends_on_its_page(operator: Client) -> None:
    found = letters(3)
    apply(found[0])
    page = text_of(operator, f"{DESK}replay/?group={found[0].fingerprint}")
    assert "2 would be applied." in page
    assert "1 was already applied and is a no-op." in page
    answer = operator.post(
        f"{DESK}replay/?group={found[0].fingerprint}", {"canary_count": 0, "rate_per_second": 0, "why": "repaired"}
    )
    assert answer.status_code == 302
    page = text_of(operator, answer["Location"])
    assert "1 of 3 resolved" in page
    assert DeadLetter.objects.filter(state=State.REQUESTED).count() == 2
    assert AuditEntry.objects.get().actor == "olga"


def test_of_two_operators_the_second_is_told_that_nothing_is_left(operator: Client) -> None:
    letter = a_letter()
    form = {"canary_count": 0, "rate_per_second": 0, "why": ""}
    assert operator.post(f"{DESK}replay/?ids={letter.pk}", form).status_code == 302
    answer = operator.post(f"{DESK}replay/?ids={letter.pk}", form)
    assert answer.status_code == 409
    assert "another person may have dealt with them" in answer.content.decode()


def test_the_ticked_ones_are_meant_whatever_the_list_was_filtered_by(operator: Client) -> None:
    found = letters(3)
    page = text_of(operator, f"{DESK}replay/?ids={found[0].pk}&ids={found[2].pk}&state=open&text=template")
    assert "2 would be applied." in page


def test_a_discard_without_a_reason_changes_nothing(operator: Client) -> None:
    letter = a_letter()
    assert operator.post(f"{DESK}discard/?ids={letter.pk}", {"why": " "}).status_code == 422
    letter.refresh_from_db()
    assert letter.state == State.OPEN
    assert operator.post(f"{DESK}discard/?ids={letter.pk}", {"why": "test order"}).status_code == 302
    letter.refresh_from_db()
    assert letter.state == State.DISCARDED
    page = text_of(operator, f"{DESK}{letter.pk}/change/")
    assert "Will be purged" in page
    assert "test order" in page


def test_an_edit_shows_the_difference_before_it_is_sent(operator: Client) -> None:
    letter = a_letter(uuid4(), behaviour="permanent")
    path = f"{DESK}{letter.pk}/edit/"
    payload = f'{{"sample_id": "{letter.key}", "behaviour": "ok"}}'
    answer = operator.post(
        path, {"payload": payload, "version": 1, "why": "", "check": 1}, headers={"HX-Request": "true"}
    )
    assert "<del>permanent</del>" in answer.content.decode()
    assert "<html" not in answer.content.decode()
    whole = operator.post(path, {"payload": payload, "version": 1, "why": "", "check": 1}).content.decode()
    assert "<del>permanent</del>" in whole
    assert "&quot;behaviour&quot;: &quot;ok&quot;" in whole  # what was typed is still there
    assert DeadLetter.objects.count() == 1
    assert operator.post(path, {"payload": payload, "version": 1, "why": ""}).status_code == 422
    answer = operator.post(path, {"payload": payload, "version": 1, "why": "wrong behaviour"})
    copy = DeadLetter.objects.get(copy_of=letter)
    assert answer["Location"] == f"{DESK}{copy.pk}/change/"
    assert "An edited copy of" in text_of(operator, answer["Location"])


@pytest.mark.parametrize("payload", ["{broken", "[]", '{"sample_id": 1}', '"text"', "null", ""])
def test_an_edit_that_does_not_fit_is_refused_with_its_reason(payload: str, operator: Client) -> None:
    letter = a_letter()
    answer = operator.post(f"{DESK}{letter.pk}/edit/", {"payload": payload, "version": 1, "why": "x"})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    assert DeadLetter.objects.count() == 1


@pytest.mark.parametrize("bad", ["\\u0000", "\\ud800"])
@pytest.mark.parametrize("button", [{}, {"check": "1"}])
def test_an_edit_that_no_column_can_hold_is_refused_and_shown_as_it_was_typed(
    button: dict[str, str], bad: str, operator: Client
) -> None:
    letter = a_letter()
    typed = f'{{"sample_id": "{letter.key}", "behaviour": "a{bad}"}}'
    answer = operator.post(f"{DESK}{letter.pk}/edit/", {"payload": typed, "version": 1, "why": "x", **button})
    assert answer.status_code == (200 if button else 422)
    assert "behaviour (not_storable)" in answer.content.decode()
    assert f"a{bad}" in answer.content.decode()


def test_a_replay_is_stopped_from_its_page(operator: Client) -> None:
    found = letters(5)
    order = replay(Selection(group=found[0].fingerprint), actor=SHELL, canary_count=1)
    page = text_of(operator, f"{DESK}replays/{order.pk}/")
    assert "watching the canary" in page
    assert operator.post(f"{DESK}replays/{order.pk}/stop/").status_code == 302
    assert "stopped" in text_of(operator, f"{DESK}replays/{order.pk}/")
    assert DeadLetter.objects.open().count() == 5
    assert operator.post(f"{DESK}replays/{order.pk}/stop/").status_code == 409


def test_polling_ends_when_nothing_is_on_its_way(operator: Client) -> None:
    letter = a_letter()
    order = replay(Selection(ids=(letter.pk,)), actor=SHELL)
    path = f"{DESK}replays/{order.pk}/"
    assert operator.get(path, headers={"HX-Request": "true"}).status_code == 200
    apply(letter)
    assert operator.get(path, headers={"HX-Request": "true"}).status_code == 286


def queries_of(client: Client, path: str) -> CaptureQueriesContext:
    client.get(path)  # permissions, content types: what a process asks once
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(path).status_code == 200
    return queries


@pytest.mark.parametrize("path", [*PAGES, "replay/?state=open", "discard/?state=open", "letters/?text=template"])
def test_pages_cost_the_same_number_of_queries_for_one_letter_as_for_many(path: str, operator: Client) -> None:
    def path_of(letter: DeadLetter) -> str:
        return DESK + path.format(letter=letter.pk)

    first = a_letter()
    replay(Selection(ids=(a_letter(error_class="Other").pk,)), actor=SHELL, canary_count=0)
    few = len(queries_of(operator, path_of(first)))
    for number in range(5):
        letters(3, error_class=f"Error{number}")
        replay(Selection(ids=(a_letter(error_class="Other").pk,)), actor=SHELL)
    many = queries_of(operator, path_of(first))
    assert len(many) == few, "\n".join(query["sql"] for query in many.captured_queries)


def test_a_page_of_the_list_reads_an_index_and_no_more(operator: Client, settings: Any) -> None:
    letters(1000)
    letters(1000, state=State.RESOLVED, settled_at=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE baton_dead_letter")
    newest = DeadLetter.objects.filter(state=State.OPEN).order_by("-died_at", "-pk")[:50].explain()
    assert "baton_dead_letter_newest" in newest
    assert "Sort" not in newest
    by_key = Selection(text=str(uuid4())).dead_letters().explain()
    assert "baton_dead_letter_by_key" in by_key
    assert "baton_dead_letter_by_message" in by_key
    with CaptureQueriesContext(connection) as queries:
        operator.get(f"{DESK}letters/?state=open")
    (page_query,) = [query["sql"] for query in queries if "LIMIT 50" in query["sql"] and "ORDER BY" in query["sql"]]
    assert '"traceback"' not in page_query


def test_the_list_has_number_owner_and_age_of_each(operator: Client) -> None:
    letter = a_letter(
        owner="Team Sample <sample@example.com>", died_at=timezone.now() - timedelta(minutes=3, seconds=5)
    )
    page = operator.get(DESK + "letters/").content.decode()
    for text in (f">{letter.pk}</a>", "Team Sample", ">3 min ago<", "UTC", "Replay all 1…"):
        assert text in page, text


def test_a_selection_is_told_in_words(operator: Client) -> None:
    letter = a_letter(error_class="KeyError")
    page = text_of(operator, f"{DESK}discard/?group={letter.fingerprint}&state=open")
    assert f"the group of KeyError in {letter.consumer} · open" in page
    assert f"<code>{letter.fingerprint}" not in page
    assert f"dead letters {letter.pk}" in text_of(operator, f"{DESK}discard/?ids={letter.pk}")
