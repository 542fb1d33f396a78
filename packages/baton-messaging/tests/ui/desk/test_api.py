from uuid import uuid4

import pytest
from baton_messaging.dead_letters.operations.discard import discard
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import AuditEntry, DeadLetter
from baton_messaging.models.dead_letter import State
from django.test import Client

from tests.dead_letters.factories import SHELL, a_letter, an_operator, apply, letters

pytestmark = pytest.mark.django_db

API = "/api/dead-letters"
JSON = "application/json"


def test_the_list_is_filtered_and_paged(operator: Client) -> None:
    letters(3, error_class="KeyError")
    sought = a_letter(uuid4())
    answer = operator.get(f"{API}?text={sought.key}").json()
    assert answer["count"] == 1
    assert answer["items"][0]["message_id"] == str(sought.message_id)
    assert answer["items"][0]["group"] == sought.fingerprint
    answer = operator.get(f"{API}?page_size=2&page=2").json()
    assert (answer["count"], answer["page"], len(answer["items"])) == (4, 2, 2)


def test_a_letter_and_the_groups_can_be_read(operator: Client) -> None:
    letter = a_letter()
    answer = operator.get(f"{API}/{letter.pk}").json()
    assert answer["envelope"]["payload"]["behaviour"] == "ok"
    (group,) = operator.get(f"{API}/groups").json()
    assert (group["group"], group["open_count"]) == (letter.fingerprint, 1)
    assert operator.get(f"{API}/0").status_code == 404


def test_a_replay_is_planned_started_and_followed(operator: Client) -> None:
    found = letters(3)
    apply(found[0])
    body = {"selection": {"group": found[0].fingerprint}}
    plan = operator.post(f"{API}/dry-run", body, content_type=JSON).json()
    assert plan["fates"]["applies"] == 2
    assert "1 was already applied and is a no-op." in plan["sentences"]
    answer = operator.post(f"{API}/replays", {**body, "why": "repaired", "canary_count": 1}, content_type=JSON)
    assert answer.status_code == 202
    status = operator.get(answer.json()["status_url"]).json()
    assert (status["resolved"], status["under_way"], status["state"]) == (1, 2, "released")
    assert AuditEntry.objects.get().via == "api"


def test_a_replay_can_be_stopped(operator: Client) -> None:
    found = letters(3)
    body = {"selection": {"group": found[0].fingerprint}, "canary_count": 1}
    replay_id = operator.post(f"{API}/replays", body, content_type=JSON).json()["replay_id"]
    answer = operator.post(f"{API}/replays/{replay_id}/stop", {"why": "wait"}, content_type=JSON)
    assert answer.json() == {"dead_letter_count": 3}
    assert operator.post(f"{API}/replays/{replay_id}/stop", {}, content_type=JSON).status_code == 409


def test_discard_and_restore(operator: Client) -> None:
    letter = a_letter()
    body = {"selection": {"ids": [letter.pk]}}
    assert operator.post(f"{API}/discard", body, content_type=JSON).status_code == 409
    assert operator.post(f"{API}/discard", {**body, "why": "x"}, content_type=JSON).json() == {"dead_letter_count": 1}
    assert operator.post(f"{API}/restore", body, content_type=JSON).json() == {"dead_letter_count": 1}
    assert list(AuditEntry.objects.order_by("pk").values_list("outcome", flat=True)) == ["refused", "done", "done"]


def test_an_edit_is_tried_and_sent(operator: Client) -> None:
    letter = a_letter(uuid4(), behaviour="permanent")
    body = {"payload": {"sample_id": letter.key, "behaviour": "ok"}, "why": "wrong"}
    answer = operator.post(f"{API}/{letter.pk}/edit", {**body, "dry_run": True}, content_type=JSON)
    assert answer.json() == {
        "differences": [{"path": "behaviour", "before": "permanent", "after": "ok"}],
        "copy_id": None,
    }
    answer = operator.post(f"{API}/{letter.pk}/edit", body, content_type=JSON)
    assert answer.status_code == 202
    assert DeadLetter.objects.get(pk=answer.json()["copy_id"]).copy_of == letter
    bad = operator.post(f"{API}/{letter.pk}/edit", {**body, "payload": {"sample_id": 1}}, content_type=JSON)
    assert bad.status_code == 409  # settled by now


def test_a_redirect(operator: Client) -> None:
    letter = a_letter(consumer="sample.old")
    body = {"selection": {"consumer": "sample.old"}, "to": "sample.die", "why": "renamed"}
    assert operator.post(f"{API}/redirect", body, content_type=JSON).json() == {"dead_letter_count": 1}
    letter.refresh_from_db()
    assert letter.consumer == "sample.die"


@pytest.mark.parametrize(
    "selection", [{}, {"nonsense": 1}, {"ids": ["x"]}, {"ids": [0]}, {"state": "lost"}, {"since": "soon"}, {"ids": 1}]
)
def test_a_selection_that_is_none_is_422(selection: dict[str, object], operator: Client) -> None:
    a_letter()
    answer = operator.post(f"{API}/replays", {"selection": selection}, content_type=JSON)
    assert answer.status_code == 422
    assert "Expected" in answer.json()["detail"]
    assert DeadLetter.objects.open().count() == 1


def test_who_is_not_of_the_staff_or_lacks_the_right_gets_nothing(client: Client, viewer: Client) -> None:
    letter = a_letter()
    body = {"selection": {"ids": [letter.pk]}, "why": "x"}
    assert client.get(API).status_code == 401
    assert client.post(f"{API}/discard", body, content_type=JSON).status_code == 401
    assert viewer.get(API).status_code == 200
    assert viewer.post(f"{API}/discard", body, content_type=JSON).status_code == 403
    assert viewer.post(f"{API}/replays", body, content_type=JSON).status_code == 403
    client.force_login(an_operator(name="nobody"))
    assert client.get(API).status_code == 403
    letter.refresh_from_db()
    assert letter.state == State.OPEN
    assert set(AuditEntry.objects.values_list("actor", "action", "outcome")) == {
        ("vera", "discard", "refused"),
        ("vera", "replay", "refused"),
    }


def test_another_site_cannot_act_in_an_operator_s_name() -> None:
    letter = a_letter()
    client = Client(enforce_csrf_checks=True)
    client.force_login(an_operator("view", "discard"))
    body = {"selection": {"ids": [letter.pk]}, "why": "x"}
    assert client.post(f"{API}/discard", body, content_type=JSON).status_code == 403
    letter.refresh_from_db()
    assert letter.state == State.OPEN


def test_what_is_settled_is_listed_with_its_purge_date(operator: Client) -> None:
    letter = a_letter()
    discard(Selection(ids=(letter.pk,)), actor=SHELL, why="x")
    assert operator.get(f"{API}/{letter.pk}").json()["purge_at"] is not None


@pytest.mark.parametrize("bad", ["a\x00b", "\ud800"])
def test_what_the_database_cannot_store_is_refused(operator: Client, bad: str) -> None:
    body = {"selection": {"ids": [a_letter().pk]}, "why": "x"}
    for verb, changed in (("discard", {"why": bad}), ("restore", {"why": bad}), ("redirect", {"to": bad})):
        assert operator.post(f"{API}/{verb}", {**body, **changed}, content_type=JSON).status_code == 422
    assert operator.post(f"{API}/replays", {**body, "why": bad}, content_type=JSON).status_code == 422
    letter = DeadLetter.objects.get()
    edit = {"payload": {"sample_id": letter.key, "behaviour": bad}, "why": "x"}
    assert operator.post(f"{API}/{letter.pk}/edit", edit, content_type=JSON).status_code == 422
    assert letter.state == State.OPEN


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1.5", "true"])
@pytest.mark.parametrize("field", ['"ids": [{}]', '"replay": {}'])
def test_what_is_no_whole_number_selects_nothing(field: str, number: str, operator: Client) -> None:
    body = f'{{"selection": {{{field.format(number)}}}, "why": "x"}}'
    for verb in ("dry-run", "replays", "discard"):
        answer = operator.post(f"{API}/{verb}", body, content_type=JSON)
        assert (answer.status_code, "numbers of dead letters" in answer.json()["detail"]) == (422, True)
