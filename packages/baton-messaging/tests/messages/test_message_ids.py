"""Ids are found in whatever wraps a sealed envelope."""

import doctest
import json
from uuid import uuid4

from baton_messaging.messages import envelope, message_ids
from baton_messaging.messages.envelope import seal
from baton_messaging.messages.message_ids import ids_in_body, message_id_in, message_ids_in

from tests.messages.test_bundle import ME
from tests.messages.test_bundle import envelope as an_envelope


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(message_ids).failed == 0
    assert doctest.testmod(envelope).failed == 0


def test_the_envelopes_own_id_is_read_and_not_one_of_its_payload() -> None:
    sent = an_envelope(payload={"message_id": str(uuid4())})
    sealed = seal(sent, to=ME)
    assert message_id_in(sealed) == str(sent.message_id)
    assert message_ids_in([[sealed, sealed]]) == [str(sent.message_id)] * 2
    body = json.dumps([[[sealed]], {}, {}]).encode()
    assert str(sent.message_id).encode() in ids_in_body(body)
