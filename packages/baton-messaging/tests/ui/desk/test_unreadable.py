"""What the database holds and Python cannot decode costs no page its answer."""

import io
from uuid import uuid4

import kombu
import pytest
from baton_messaging.dead_letters.operations.replay import replay
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models import DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import Reason, State
from baton_messaging.publish import publish
from baton_messaging.relaying.outbox_round import send_outbox
from baton_messaging.relaying.retry_round import send_retries
from django.core.management import call_command
from django.db import transaction
from django.test import Client

from tests.dead_letters.factories import SHELL, a_letter
from tests.relaying.test_unreadable_rows import overwrite, unreadable
from tests.sample.events import Sampled
from tests.ui.desk.test_api import API, JSON
from tests.ui.desk.test_pages import DESK

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_broker")]


def spoiled(payload: str) -> DeadLetter:
    letter = a_letter()
    assert letter.message_id
    overwrite("baton_dead_letter", "envelope", f'{{"payload": {payload}}}', letter.message_id)
    return letter


@unreadable
def test_each_page_shows_the_dead_letter(payload: str, operator: Client) -> None:
    letter = spoiled(payload)
    of_desk = (DESK, f"{DESK}letters/", f"{DESK}{letter.pk}/change/")
    for path in (*of_desk, "/ops/", f"/triage/{letter.pk}/", API, f"{API}/{letter.pk}"):
        assert operator.get(path).status_code == 200, path
    edit = {"payload": {}, "why": "x"}
    assert operator.post(f"{API}/{letter.pk}/edit", edit, content_type=JSON).status_code == 409
    out = io.StringIO()
    call_command("dead_letters", "show", str(letter.pk), stdout=out)
    assert str(letter.message_id) in out.getvalue()


@unreadable
def test_a_replay_opens_it_again_as_undecodable(payload: str, producer: kombu.Producer) -> None:
    letter = spoiled(payload)
    replay(Selection(ids=(letter.pk,)), actor=SHELL)
    send_retries(producer)
    letter.refresh_from_db()
    assert (letter.state, letter.reason) == (State.OPEN, Reason.UNDECODABLE)


@unreadable
def test_triage_says_whose_a_row_is_that_the_relay_could_not_read(payload: str, producer: kombu.Producer) -> None:
    with transaction.atomic():
        (message_id,) = publish(Sampled(sample_id=(key := uuid4())))
    overwrite("baton_outbox", "payload", payload, message_id)
    send_outbox(producer)
    assert OutboxMessage.objects.get().published_at
    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("triage", str(key), stdout=out)
    assert "undecodable" in out.getvalue()
    assert "Platform team" in out.getvalue()
