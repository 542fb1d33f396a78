"""Every way a message can die ends in one row of the list, says which it was, and the app is told."""

import pytest
from baton_dev.testing.processes import Process
from baton_messaging.models import Attempt, Minute
from baton_messaging.models.dead_letter import Reason
from django.db.models import Sum

from tests.dead_letters.causes import CAUSES, Cause, wait_for_letter
from tests.parcels.models import Parcel
from tests.sample.models import Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("relay", "collector")]


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_a_dead_message_is_one_row_that_says_why(cause: Cause, worker: Process, collector: Process) -> None:
    parcel = Parcel.objects.create()
    cause.bring_about(parcel.pk)

    letter = wait_for_letter(str(parcel.pk) if cause.tells else "")

    assert (letter.reason, letter.error_class) == (cause.reason, cause.error)
    assert letter.consumer == cause.consumer
    assert letter.owner == "Platform team <platform@example.com>"
    assert letter.state == "open"
    assert bool(letter.envelope) == cause.tells
    assert bool(letter.raw) != cause.tells
    parcel.refresh_from_db()
    assert parcel.needs_attention == cause.tells
    assert not parcel.is_shipped
    assert not Effect.objects.filter(sample_id=parcel.pk).exists()
    assert not Attempt.objects.filter(sent_at=None, key=parcel.pk).exists()
    if cause.reason == Reason.KILLED_WORKER:  # run four times, of which three were redeliveries
        assert Minute.objects.aggregate(total=Sum("redelivered_count"))["total"] == 3
    assert worker.exit_code is None
    assert collector.exit_code is None
