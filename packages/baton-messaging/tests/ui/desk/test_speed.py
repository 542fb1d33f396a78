"""How long the desk's pages take with 10,000 open dead letters; run on request.

MEASURE=1 python -m pytest packages/baton-messaging/tests/ui/desk/test_speed.py -s
"""

import os

import pytest
from baton_dev.testing.processor_time import processor_seconds
from baton_messaging.models import DeadLetter
from django.db import connection
from django.test import Client

from tests.dead_letters.factories import letters

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif("MEASURE" not in os.environ, reason="a measurement, of a minute: set MEASURE=1"),
    pytest.mark.timeout(600),
]

DESK = "/admin/baton_messaging/deadletter/"
MAX_SECONDS = 0.3


def test_the_pages_answer_in_time(operator: Client) -> None:
    for number in range(10):
        letters(1_000, error_class=f"Error{number}")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE baton_dead_letter")
    letter = DeadLetter.objects.order_by("pk")[5_000]
    paths = [
        DESK,
        f"{DESK}letters/",
        f"{DESK}letters/?page=100",
        f"{DESK}letters/?group={letter.fingerprint}",
        f"{DESK}letters/?text={letter.key}",
        f"{DESK}{letter.pk}/change/",
    ]
    for path in paths:
        assert operator.get(path).status_code == 200, path
    used = {path: processor_seconds(path, lambda path=path: operator.get(path)) for path in paths}  # type: ignore[misc]
    assert all(seconds < MAX_SECONDS for seconds in used.values()), used
