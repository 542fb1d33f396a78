"""A bundle lets through what is genuine, for its consumer, of our time; a body that is none is refused as a whole."""

import json
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.conf import baton
from baton_messaging.errors import BadBundle, BadEnvelope, BadSignature, Misdirected, TooOld
from baton_messaging.messages.bundle import Bundle
from baton_messaging.messages.envelope import Envelope, seal
from django.core import signing
from django.test import override_settings
from django.utils import timezone

ME = "sample.take_one"
EVENT = "sample.sampled"


def envelope(**changes: Any) -> Envelope:
    message_id = uuid4()
    fields: dict[str, Any] = {
        "message_id": message_id,
        "name": EVENT,
        "version": 1,
        "key": "7",
        "occurred_at": timezone.now(),
        "correlation_id": message_id,
        "causation_id": None,
        "traceparent": "",
        "payload": {"sample_id": "7"},
        **changes,
    }
    return Envelope(**fields)


def opened(*sealed: str, max_age_seconds: float | None = 3_600) -> Bundle:
    return Bundle.open(ME, list(sealed), event_name=EVENT, max_age_seconds=max_age_seconds)


def refusal(sealed: str) -> type[BadEnvelope]:
    bundle = opened(sealed)
    assert not bundle.envelopes
    return type(bundle.refused[0].error)


def test_what_was_sealed_for_a_consumer_is_opened_by_it_in_order_and_once() -> None:
    sent = [envelope(), envelope()]
    bundle = Bundle.of(ME, sent)
    assert opened(*bundle.sealed).envelopes == sent
    copies = [seal(sent[0], to=ME, at=1 + time.time()), *bundle.sealed, *bundle.sealed]
    assert opened(*copies).envelopes == sent


@pytest.mark.parametrize(
    ("sealed", "error"),
    [
        (lambda: seal(envelope(), to="sample.take_two"), Misdirected),
        (lambda: seal(envelope(name="sample.doomed"), to=ME), Misdirected),
        (lambda: seal(envelope(), to=ME, at=time.time() - 3_700), TooOld),
        (lambda: seal(envelope(), to=ME)[:-1], BadSignature),
        (lambda: seal(envelope(), to=ME).replace(ME, "sample.take_two"), BadSignature),
        (lambda: "\ud800:x", BadSignature),
    ],
    ids=["consumer", "event", "time", "forged", "altered", "surrogate"],
)
def test_each_is_refused_for_itself_and_the_others_are_read(sealed: Any, error: type[BadEnvelope]) -> None:
    assert refusal(sealed()) is error
    good = envelope()
    assert opened(sealed(), seal(good, to=ME)).envelopes == [good]


def test_a_dead_letter_may_be_old_and_keeps_its_envelope() -> None:
    sent = envelope()
    old = seal(sent, to=ME, at=0)
    assert opened(old).refused[0].envelope == sent
    assert opened(old, max_age_seconds=None).envelopes == [sent]


def test_what_an_earlier_release_has_sent_is_for_the_consumers_of_its_event() -> None:
    def sealed_as_before(sent: Envelope) -> str:
        text = json.dumps(sent.as_dict(), separators=(",", ":"))
        return signing.Signer(salt="baton.envelope").sign(text)

    sent = envelope()
    assert opened(sealed_as_before(sent)).envelopes == [sent]
    assert refusal(sealed_as_before(envelope(name="sample.doomed"))) is Misdirected
    long_ago = timezone.now() - timedelta(hours=2)
    assert refusal(sealed_as_before(envelope(occurred_at=long_ago))) is TooOld


def test_a_bundle_is_read_while_its_key_is_a_fallback(settings: Any) -> None:
    bundle, old = Bundle.of(ME, [envelope(), envelope()]), settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, [old]
    mixed = [*bundle.sealed, *Bundle.of(ME, [envelope()]).sealed]
    assert len(opened(*mixed).envelopes) == 3
    settings.SECRET_KEY_FALLBACKS = []
    assert len(opened(*mixed).envelopes) == 1


@pytest.mark.parametrize(
    "sealed",
    ["x" * 64, None, 7, {}, [], [None], [["x"]], [0], ["x", 7], ["x"] * 2_000, ["x" * 3_000_000]],
    ids=ascii,
)
def test_a_body_that_is_no_bundle_is_refused_as_a_whole(sealed: Any) -> None:
    with pytest.raises(BadBundle):
        Bundle.open(ME, sealed, event_name=EVENT)


@override_settings(BATON={"QUEUES": baton().queues, "MAX_BUNDLE_SIZE": 3})
def test_the_size_of_a_bundle_is_a_setting() -> None:
    assert len(opened("a", "b", "c")) == 3
    with pytest.raises(BadBundle, match="MAX_BUNDLE_SIZE"):
        opened("a", "b", "c", "d")


def test_its_parts_are_sealed_as_they_came() -> None:
    sealed = [*Bundle.of(ME, [envelope(), envelope()]).sealed, "junk"]
    assert [part.sealed for part in opened(*sealed).parts()] == [[one] for one in sealed]
