"""Whatever stands in the headers of a dead letter, it is read, and becomes a row: no collector ends of it."""

from datetime import datetime
from typing import Any

import pytest
from baton_messaging.dead_letters.intake.raw_message import MAX_NAME_LENGTH, MAX_SHOWN_BYTES, read
from baton_messaging.dead_letters.intake.transfer import collect
from baton_messaging.models import DeadLetter
from hypothesis import given
from hypothesis import strategies as st
from kombu.message import Message

pytestmark = pytest.mark.django_db

DIED_AT = datetime(2026, 1, 1)  # noqa: DTZ001 - as both brokers write it
NAMES = ["task", "id", "expires", "x-death", "compression", "lang", "x-first-death-queue"]


def deep(levels: int) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for _ in range(levels):
        nested = {"a": nested}
    return nested


def death(**parts: Any) -> list[dict[str, Any]]:
    return [{"queue": "q", "reason": "rejected", "time": DIED_AT, "count": 1, **parts}]


HOSTILE: dict[str, dict[str, Any]] = {
    "an expiry without a zone": {"expires": "2020-01-01T00:00:00", "x-death": death()},
    "an expiry before all times": {"expires": "0001-01-01T00:00:00+23:59", "x-death": death()},
    "a number for the deaths": {"x-death": 5},
    "an object for the deaths": {"x-death": {"queue": "q"}},
    "an endless count": {"x-death": death(count=10**30)},
    "a nested queue": {"x-death": death(queue=deep(5000))},
    "a nested id": {"id": deep(5000)},
    "nested headers": {"any": deep(5000)},
    "nested as deep as any Python writes": {"any": deep(700)},
    "a lone surrogate in the task": {"task": "\udc80", "id": "\udc80\x00" * 200},
    "a lone surrogate in the queue": {"x-death": death(queue="\udc80\x00" * 200)},
    "a long id": {"id": "x" * 1_000_000, "task": "x" * 1_000_000},
    "megabytes": {"any": "x" * 5_000_000},
    "no names": {1: 2, None: 3},  # type: ignore[dict-item]
    "bytes": {"any": b"\xff\x00"},
}


def message(headers: dict[str, Any], body: Any = b'[["a"], {}, {}]') -> Message:
    return Message(body=body, headers=headers, content_type="application/json", content_encoding="utf-8")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_become_one_bounded_row(name: str) -> None:
    for _ in range(2):  # sent twice, it is known the second time
        collect(read(message(HOSTILE[name])))
    row = DeadLetter.objects.get()
    assert len(row.raw) <= 3 * MAX_SHOWN_BYTES
    assert len(row.consumer) <= MAX_NAME_LENGTH
    assert len(row.task_id) <= MAX_NAME_LENGTH


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(headers=st.dictionaries(st.sampled_from(NAMES), VALUES | st.just(death())), body=st.binary())
def test_any_headers_and_any_body_are_taken(headers: dict[str, Any], body: bytes) -> None:
    collect(read(message(headers, body)))
