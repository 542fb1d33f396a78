from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.errors import BadSignature, InvalidPayload, Undecodable, UnknownEvent
from baton_messaging.events import Event
from baton_messaging.messages.envelope import Envelope, Sealed, seal, unseal
from django.core import signing
from django.test import override_settings
from django.utils import timezone
from pydantic import ValidationError


class Priced(Event, name="sample.priced", version=3, key="sample_id"):
    sample_id: int
    price: Decimal


def envelope(**changes: Any) -> Envelope:
    message_id = uuid4()
    fields: dict[str, Any] = {
        "message_id": message_id,
        "name": "sample.priced",
        "version": 3,
        "key": "7",
        "occurred_at": timezone.now(),
        "correlation_id": message_id,
        "causation_id": None,
        "traceparent": "",
        "payload": {"sample_id": 7, "price": "0.10"},
        **changes,
    }
    return Envelope(**fields)


def test_an_envelope_survives_the_way_unchanged() -> None:
    sent = envelope(causation_id=uuid4())
    assert unseal(seal(sent, to="a.b", at=7.9)) == Sealed(sent, "a.b", 7)


def test_money_never_passes_through_a_float() -> None:
    event = Priced(sample_id=7, price=Decimal("0.10"))
    assert event.payload() == {"sample_id": 7, "price": "0.10"}
    assert envelope().event() == event


def test_what_looks_like_kombu_s_own_types_arrives_as_it_was_sent() -> None:
    payload = {"__type__": "datetime", "__value__": "not a date"}
    assert unseal(seal(envelope(payload=payload), to="a.b")).envelope.payload == payload


def test_an_altered_envelope_is_refused() -> None:
    sealed = seal(envelope(), to="a.b")
    with pytest.raises(BadSignature):
        unseal(sealed.replace('"7"', '"8"'))


def test_an_envelope_signed_with_an_old_key_is_accepted_while_the_key_is_a_fallback() -> None:
    sealed = seal(envelope(), to="a.b")
    from django.conf import settings

    old = settings.SECRET_KEY
    with override_settings(SECRET_KEY="n" * 50, SECRET_KEY_FALLBACKS=[old]):
        unseal(sealed)
    with override_settings(SECRET_KEY="n" * 50), pytest.raises(BadSignature):
        unseal(sealed)


@pytest.mark.parametrize("text", ["[]", "{}", '{"message_id": "x"}', "not json", '{"message_id": null}', "3", '"text"'])
def test_signed_nonsense_is_undecodable(text: str) -> None:
    with pytest.raises(Undecodable):
        unseal(signing.Signer(salt="baton.envelope").sign(text))


def test_an_unknown_version_is_named() -> None:
    with pytest.raises(UnknownEvent, match=r"sample\.priced version 4"):
        envelope(version=4).event()


def test_a_payload_that_does_not_fit_is_named_by_field_and_never_by_value() -> None:
    with pytest.raises(InvalidPayload, match="price") as caught:
        envelope(payload={"sample_id": 7, "price": "secret"}).event()
    assert "secret" not in str(caught.value)


def test_publishing_is_strict() -> None:
    with pytest.raises(ValidationError, match="currency"):
        Priced(sample_id=7, price=Decimal("0.10"), currency="EUR")  # type: ignore[call-arg]  # as a typo has it


def test_a_field_of_a_newer_release_is_no_error_and_is_carried_along() -> None:
    payload = {"sample_id": 7, "price": "0.10", "currency": "EUR", "__v": {"a": [1]}}
    event = envelope(payload=payload).event()
    assert isinstance(event, Priced)
    assert event.price == Decimal("0.10")
    assert event.payload() == payload  # published again by a consumer, say


def test_a_payload_that_is_no_object_is_named() -> None:
    with pytest.raises(InvalidPayload, match=r"the payload itself \(model_type\)"):
        envelope(payload=[1]).event()
