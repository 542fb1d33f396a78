"""The lookup ``any_of`` finds what ``in`` finds."""

from uuid import uuid4

import pytest
from baton_messaging.models import OutboxMessage
from baton_messaging.publish import publish
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.sample.events import Sampled

pytestmark = pytest.mark.django_db


def test_texts_and_uuids_are_found_by_one_parameter() -> None:
    keys = [uuid4() for _ in range(3)]
    with transaction.atomic():
        publish(*(Sampled(sample_id=key) for key in keys))
    wanted = [str(keys[0]), str(keys[2]), "it's, a {key}", 'of "another" \\ kind', str(uuid4())]
    ids = list(OutboxMessage.objects.filter(key__in=wanted).values_list("message_id", flat=True))
    assert len(ids) == 2
    with CaptureQueriesContext(connection) as captured:
        assert {row.message_id for row in OutboxMessage.objects.filter(key__any_of=wanted)} == set(ids)
        assert {row.message_id for row in OutboxMessage.objects.filter(message_id__any_of=set(ids))} == set(ids)
        assert OutboxMessage.objects.exclude(message_id__any_of=[*ids, uuid4()]).get().key == str(keys[1])
    assert all("= ANY (" in query["sql"] for query in captured)


def test_nothing_is_found_among_nothing() -> None:
    assert not OutboxMessage.objects.filter(key__any_of=[])
