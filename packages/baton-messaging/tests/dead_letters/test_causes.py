"""Every way a message can die ends in one row of the list, says which it was, and the order is told."""

import pytest
from baton_dev.testing.processes import Process
from baton_messaging.models import Attempt, Minute
from baton_messaging.models.dead_letter import Reason
from django.db.models import Sum

from tests.dead_letters.causes import CAUSES, Cause, bare_order, wait_for_letter
from tests.sample.models import Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("relay", "collector")]


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_a_dead_message_is_one_row_that_says_why(cause: Cause, worker: Process, collector: Process) -> None:
    order = bare_order()
    cause.bring_about(order.pk)

    letter = wait_for_letter(str(order.pk) if cause.tells else "")

    assert (letter.reason, letter.error_class) == (cause.reason, cause.error)
    assert letter.consumer == cause.consumer
    assert letter.owner == "Platform team <platform@example.com>"
    assert letter.state == "open"
    assert bool(letter.envelope) == cause.tells
    assert bool(letter.raw) != cause.tells
    order.refresh_from_db()
    assert order.needs_attention == cause.tells
    assert order.status == "accepted"
    assert not Effect.objects.filter(sample_id=order.pk).exists()
    assert not Attempt.objects.filter(sent_at=None, key=order.pk).exists()
    if cause.reason == Reason.KILLED_WORKER:  # run four times, of which three were redeliveries
        assert Minute.objects.aggregate(total=Sum("redelivered_count"))["total"] == 3
    assert worker.exit_code is None
    assert collector.exit_code is None
