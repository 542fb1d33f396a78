"""What is found to be lost, and has got somewhere before it is sent again: it is left alone."""

from collections.abc import Callable

import pytest
from baton_messaging.dead_letters.operations.replay import replay
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import DeadLetter, OutboxMessage
from baton_messaging.recovery.losses import Loss, losses_of
from baton_messaging.recovery.queue_states import take_snapshot
from baton_messaging.recovery.resend import send_again

from tests.dead_letters.factories import SHELL
from tests.recovery.situations import CONSUMER, age_retries, die, fail, lose, process, relay_retries, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]

Change = Callable[[OutboxMessage], object]
MEANWHILE: dict[str, Change] = {
    "processed": lambda row: process([row]),
    "died": die,
    "failed again": lambda row: fail(row, sent=False, attempt=2),
}


def found() -> list[Loss]:
    states, in_flight = take_snapshot(["sample"])
    return losses_of(CONSUMER, states["sample"], in_flight=in_flight.get(CONSUMER, set()), limit=10)


@pytest.mark.parametrize("change", MEANWHILE.values(), ids=MEANWHILE)
@pytest.mark.parametrize("is_retry", [False, True], ids=["first delivery", "retry"])
def test_what_gets_somewhere_meanwhile_is_not_sent_again(change: Change, *, is_retry: bool) -> None:
    row, other = send(2)
    lose()
    if is_retry:
        fail(row, sent=True)
    lost = found()
    assert {loss.message_id for loss in lost} == {row.message_id, other.message_id}
    change(row)
    assert send_again(CONSUMER, lost) == 1  # the other
    assert {loss.message_id for loss in found()} == set()


def test_a_replay_that_dies_again_meanwhile_is_not_sent_again() -> None:
    (row,) = send()
    lose()
    die(row)
    replay(Selection(ids=(DeadLetter.objects.get().pk,)), actor=SHELL, canary_count=0, why="repaired")
    assert relay_retries() == 1
    lose()
    age_retries(300)
    lost = found()
    assert [loss.message_id for loss in lost] == [row.message_id]
    die(row)
    assert send_again(CONSUMER, lost) == 0
