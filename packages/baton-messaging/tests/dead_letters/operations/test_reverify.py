from typing import Any
from uuid import UUID, uuid4

import pytest
from baton_messaging.dead_letters.operations.replay import replay
from baton_messaging.dead_letters.operations.replay_plan import Fate, dry_run
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.messages.envelope import seal, unseal
from baton_messaging.models import Attempt, DeadLetter
from baton_messaging.models.dead_letter import Reason, State
from baton_messaging.signals import dead_lettered
from django.db import OperationalError

from tests.dead_letters.factories import SHELL, a_letter, an_envelope

pytestmark = pytest.mark.django_db

OLD_KEY = "a key that is in use no longer, and was long enough in its day"


def signed_with_an_old_key(settings: Any) -> DeadLetter:
    current, settings.SECRET_KEY = settings.SECRET_KEY, OLD_KEY
    sealed = seal(an_envelope(uuid4()), to="sample.die")
    settings.SECRET_KEY = current
    return a_letter(envelope=None, message_id=None, key="", raw=sealed, reason=Reason.BAD_SIGNATURE)


def test_what_was_signed_with_an_old_key_can_be_replayed_once_the_key_is_back(settings: Any) -> None:
    letter = signed_with_an_old_key(settings)
    selection = Selection(ids=(letter.pk,))
    assert dry_run(selection).count(Fate.UNREADABLE) == 1
    settings.SECRET_KEY_FALLBACKS = [OLD_KEY]
    assert dry_run(selection).count(Fate.APPLIES) == 1
    replay(selection, actor=SHELL)
    letter.refresh_from_db()
    assert letter.state == State.REQUESTED
    assert Attempt.objects.get().message_id == letter.message_id


def test_the_app_hears_of_what_can_be_read_now_once(settings: Any) -> None:
    letter = signed_with_an_old_key(settings)
    settings.SECRET_KEY_FALLBACKS = [OLD_KEY]
    heard: list[tuple[str, str, UUID]] = []

    def hear(*, key: str, consumer: str, message_id: UUID, **_kwargs: Any) -> None:
        heard.append((key, consumer, message_id))

    dead_lettered.connect(hear)
    try:
        dry_run(Selection(ids=(letter.pk,)))
        dry_run(Selection(ids=(letter.pk,)))
    finally:
        dead_lettered.disconnect(hear)
    envelope = unseal(letter.raw).envelope
    assert heard == [(envelope.key, letter.consumer, envelope.message_id)]


@pytest.mark.django_db(transaction=True)
def test_what_is_read_and_cannot_be_told_is_read_again(settings: Any) -> None:
    letter = signed_with_an_old_key(settings)
    settings.SECRET_KEY_FALLBACKS = [OLD_KEY]
    selection = Selection(ids=(letter.pk,))

    def lose_the_database(**_kwargs: Any) -> None:
        raise OperationalError("the connection is lost")

    dead_lettered.connect(lose_the_database)
    try:
        with pytest.raises(OperationalError):
            dry_run(selection)
    finally:
        dead_lettered.disconnect(lose_the_database)
    assert DeadLetter.objects.filter(envelope__isnull=True).exists()


def test_what_was_forged_stays_unreadable(settings: Any) -> None:
    settings.SECRET_KEY_FALLBACKS = [OLD_KEY]
    letter = a_letter(envelope=None, message_id=None, raw="forged:nonsense", reason=Reason.BAD_SIGNATURE)
    assert dry_run(Selection(ids=(letter.pk,))).count(Fate.UNREADABLE) == 1
    assert DeadLetter.objects.get().raw == "forged:nonsense"


def test_a_message_that_is_on_the_list_by_another_way_is_not_doubled(settings: Any) -> None:
    letter = signed_with_an_old_key(settings)
    settings.SECRET_KEY_FALLBACKS = [OLD_KEY]
    a_letter(message_id=unseal(letter.raw).envelope.message_id)
    assert dry_run(Selection(ids=(letter.pk,))).count(Fate.UNREADABLE) == 1
