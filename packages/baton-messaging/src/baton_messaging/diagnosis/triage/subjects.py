"""Kinds of subjects: each app says for its own rows what an id means, because the package knows none of them.

An app registers them in its ``triage.py``: ``register(SubjectKind("order", …))``. A kind looks ids up, and lists what
has not come to its end.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final
from uuid import UUID

from django.utils.functional import Promise

from baton_messaging.diagnosis.triage.facts import Subject
from baton_messaging.routing.discovery import Registry

MAX_CALLED: Final = 10  # of a kind; of more than a person reads, the rest of the number must be typed
Find = Callable[[Collection[str]], Mapping[str, Subject]]
FindCalled = Callable[[str], Iterable[str]]
Unsettled = Callable[[datetime, int], Iterable[str]]


@dataclass(frozen=True)
class SubjectKind:
    """One kind of business row whose id is the key of messages.

    ``first_event`` is published by the commit that makes the row; ``queue`` names the row's owner.
    ``find(keys)`` leaves out keys without such a row; it must not raise for what is no id of its own.
    ``called(text)`` returns the keys of the rows that people call by a text, a number on a page or in a mail; at most
    ``MAX_CALLED`` of them are told apart.
    ``unsettled(before, limit)`` returns keys of rows made before a time that have not come to their end.
    """

    name: str
    label: Promise | str
    first_event: str
    queue: str
    find: Find
    unsettled: Unsettled
    called: FindCalled | None = None


_KINDS: Registry[str, SubjectKind] = Registry("triage")


def register(kind: SubjectKind) -> None:
    """Let triage know a kind."""
    _KINDS.add(kind.name, kind)


def all_kinds() -> list[SubjectKind]:
    """Return what is registered, in that order."""
    return list(_KINDS.all().values())


def find_called(text: str) -> list[tuple[str, str]]:
    """Return the name of the kind and the key of each row that people call by a text."""
    return [(kind.name, key) for kind in all_kinds() if kind.called for key in islice(kind.called(text), MAX_CALLED)]


def label_of(name: str) -> str:
    """Return the kind in the reader's language."""
    kind = _KINDS.get(name)
    return str(kind.label) if kind else name


def find_subjects(events: Mapping[str, Collection[str]]) -> dict[str, tuple[Subject, ...]]:
    """Return what each key is, given the events about it: a row that exists, or one that is gone though a message
    tells of it.
    """
    found: dict[str, list[Subject]] = {key: [] for key in events}
    for kind in all_kinds():
        there = kind.find(list(events))
        for key, names in events.items():
            if key in there:
                found[key].append(there[key])
            elif kind.first_event in names:
                found[key].append(Subject(kind.name, key, kind.queue, kind.first_event, exists=False))
    return {key: tuple(subjects) for key, subjects in found.items()}


def uuids_in(keys: Iterable[str]) -> list[UUID]:
    """Return those keys that are UUIDs: for kinds whose rows have such ids."""
    found = []
    for key in keys:
        with suppress(ValueError):
            found.append(UUID(key))
    return found
