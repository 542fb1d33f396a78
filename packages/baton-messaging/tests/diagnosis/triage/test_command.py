"""``manage.py triage``: its exit codes and what it prints."""

import json
from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from baton_messaging.diagnosis.triage import stuck, unsettled
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.publish import publish
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from tests.parcels import services
from tests.parcels.models import Parcel
from tests.recovery.situations import process, send
from tests.sample.events import Sampled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def run(*words: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("triage", *words, stdout=out)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def place() -> str:
    key = uuid4()
    with transaction.atomic():
        publish(Sampled(sample_id=key))
    return str(key)


def test_the_exit_code_says_whether_somebody_must_act() -> None:
    key = place()
    code, text = run(key)
    assert code == 1
    assert "sample.take_one: relay stalled (no relay lives)\n  whose   Platform team <platform@example.com>" in text
    message_id = OutboxMessage.objects.get().message_id
    ProcessedMessage.objects.claim(consumer="sample.take_one", message_ids=[message_id], worker="w")
    assert run(key)[0] == 0
    for nonsense in ("nonsense", "\udcff"):  # the second is what Python makes of a byte that is no UTF-8
        with pytest.raises(CommandError) as refused:
            run(nonsense)
        assert refused.value.returncode == 2


def test_json_has_what_the_page_has() -> None:
    code, text = run(place(), "--format", "json")
    report = json.loads(text)
    assert code == 1
    assert report["needs_person"] is True
    (verdict,) = report["verdicts"]
    assert verdict["next_step"] == {
        "text": "Start or restart the relay. If it ends again, its log says why.",
        "command": "python manage.py relay",
        "url": "",
    }
    assert (verdict["state"], verdict["owner_email"]) == ("relay stalled", "platform@example.com")


def test_what_is_stuck_is_counted_by_verdict_and_owner() -> None:
    keys = [place() for _ in range(5)]
    assert run("--stuck") == (0, "0 older than 5 min and not settled\n")
    OutboxMessage.objects.update(occurred_at=timezone.now() - timedelta(minutes=6))
    code, text = run("--stuck")
    assert code == 1
    assert "5 older than 5 min and not settled\n      5  relay stalled  sample.take_one\n" in text
    assert any(key in text for key in keys)
    code, text = run("--stuck", "--older-than", "10m", "--format", "json")
    assert (code, json.loads(text)["groups"]) == (0, [])
    with pytest.raises(CommandError, match="Expected a number and one of s, m, h, d"):
        run("--stuck", "--older-than", "soon")


def test_what_was_sent_and_is_in_a_queue_that_nobody_consumes_is_stuck() -> None:
    (row,) = send(age_seconds=360)
    assert "1  nobody consumes the queue  sample.take_one" in run("--stuck")[1]
    process([row])
    assert run("--stuck") == (0, "0 older than 5 min and not settled\n")


def test_a_row_without_its_message_belongs_to_its_queues_owner() -> None:
    parcel = services.hand_in()
    OutboxMessage.objects.all().delete()
    code, text = run(str(parcel.pk))
    assert code == 1
    assert "not published (the row has no message)\n  whose   Warehouse team <warehouse@example.com>" in text
    Parcel.objects.update(handed_in_at=timezone.now() - timedelta(minutes=6))
    assert "1  not published" in run("--stuck")[1]


def test_messages_without_their_row_belong_to_its_queues_owner() -> None:
    parcel = services.hand_in()
    parcel_id = parcel.pk
    parcel.delete()
    text = run(str(parcel_id))[1]
    assert f"{parcel_id}: its row is gone (a message tells of it)\n  whose   Warehouse team" in text
    assert "sample.weigh: relay stalled" in text


@pytest.mark.parametrize("age", ["999999d", "5", "-5m", "5w"])
def test_an_age_beyond_any_calendar_is_refused(age: str) -> None:
    with pytest.raises(CommandError, match="Expected a number"):
        run("--stuck", f"--older-than={age}")


def test_rows_that_are_done_and_not_marked_hide_none_that_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    """While no reconciler runs, nothing marks what is settled."""
    monkeypatch.setattr(stuck, "MAX_KEYS", 5)
    process(send(12, age_seconds=1_000))
    waiting = send(7, age_seconds=400)
    code, text = run("--stuck", "--format", "json")
    found = json.loads(text)
    assert (code, found["count"], found["judged_count"], found["is_cut_short"]) == (1, 7, 5, True)
    assert [group["count"] for group in found["groups"]] == [5]
    assert set(found["groups"][0]["examples"]) <= {row.key for row in waiting}
    assert "7 older than 5 min and not settled\n        the oldest 5 of them:\n" in run("--stuck")[1]


def test_more_than_are_counted_are_at_least_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsettled, "MAX_COUNTED", 3)
    send(4, age_seconds=400)
    assert run("--stuck")[1].startswith("at least 3 older than 5 min")


def test_done_rows_beyond_those_looked_at_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsettled, "MAX_LOOKED_AT", 3)
    process(send(4, age_seconds=400))
    assert run("--stuck")[1].startswith("at least 0 older than 5 min")


def test_each_group_has_its_oldest_its_step_and_its_owner_can_be_asked_for() -> None:
    place()
    OutboxMessage.objects.update(occurred_at=timezone.now() - timedelta(minutes=30))
    text = run("--stuck")[1]
    assert "oldest  30 min" in text
    assert "next    Start or restart the relay. If it ends again, its log says why." in text
    assert "relay stalled" in run("--stuck", "--owner", "PLATFORM")[1]
    assert "relay stalled" not in run("--stuck", "--owner", "warehouse")[1]
