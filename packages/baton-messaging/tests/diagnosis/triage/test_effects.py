"""What counts as done is checked against the rows of the app."""

from threading import Event

import pytest
from baton_dev.testing.deadline import within
from baton_messaging.diagnosis.triage.report import triage
from baton_messaging.models import OutboxMessage, ProcessedMessage
from baton_messaging.recovery import findings
from baton_messaging.routing.subscriptions import subscriptions_of

from tests.parcels import services
from tests.parcels.models import Parcel

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def counted_parcel() -> Parcel:
    parcel = services.hand_in()
    Parcel.objects.update(is_shipped=True)
    (message,) = OutboxMessage.objects.all()
    for known in subscriptions_of(message.name):
        ProcessedMessage.objects.claim(consumer=known.consumer, message_ids=[message.message_id], worker="w")
    return parcel


@pytest.mark.usefixtures("longer_deadlines")
def test_done_without_its_effect_needs_a_person() -> None:
    parcel = counted_parcel()
    row, *messages = triage(str(parcel.pk)).verdicts
    assert (row.state_text, row.needs_person) == ("done (but: parcels without a stamp)", True)
    assert (row.next_step.text, row.owner_name) == ("Look at them.", "Warehouse team")
    assert {(message.state, message.needs_person) for message in messages} == {("done", False)}
    services.stamp(parcel.pk, "parcels.count")
    assert not triage(str(parcel.pk)).needs_person


def test_an_effect_that_cannot_be_checked_in_time_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    parcel = counted_parcel()
    hung = Event()
    monkeypatch.setattr(findings, "_run", lambda *_args: hung.wait(60))
    assert not within(lambda: triage(str(parcel.pk)), seconds=2).needs_person
    hung.set()
