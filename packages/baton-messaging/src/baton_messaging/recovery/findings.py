"""Findings report rows of the apps that contradict the messages: what sending again cannot repair.

An app contributes a check by ``@finds`` on a function in its ``findings.py``. It is asked in two ways: the reconciler,
doctor and board ask about a window of the recent past, so that its price does not grow with the tables; triage asks
about single keys, whatever their age. The doctor's window is a day: what was changed by hand was right before.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import structlog
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.database.errors import is_database_away
from baton_messaging.health.diagnosis import Diagnosis, Status, Text
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.routing.discovery import Registry
from baton_messaging.routing.queues import queue_named

log = structlog.get_logger(__name__)

# Checks look at what is older than this, when everything has had its time, and younger than that, when somebody can
# still act on it. The reconciler comes by every minute, so each row is looked at about ten times.
SETTLED_AFTER: Final = timedelta(minutes=5)
LOOKED_AT_FOR: Final = timedelta(minutes=10)
DAY: Final = timedelta(days=1)
MAX_EXAMPLES: Final = 5

_Model = TypeVar("_Model", bound=models.Model)


@dataclass(frozen=True)
class Rows:
    """The rows that a check looks at: those of a time (``after`` inclusive, ``before`` exclusive), or of some keys."""

    after: datetime
    before: datetime
    keys: tuple[str, ...] | None = None

    def select(
        self,
        rows: "models.QuerySet[_Model]",
        *,
        at: str,
        bound: Callable[[datetime], Any] = lambda moment: moment,
        key: str = "pk",
    ) -> "models.QuerySet[_Model]":
        """Return those of ``rows``. ``at``: the field that tells their time; ``bound`` makes its value of a time."""
        if self.keys is None:
            return rows.filter(**{f"{at}__gte": bound(self.after), f"{at}__lt": bound(self.before)})
        field = rows.model._meta.pk if key == "pk" else rows.model._meta.get_field(key)
        return rows.filter(**{f"{key}__in": list(_values_of(field, self.keys))})


def recent(*, looked_at_for: timedelta = LOOKED_AT_FOR, settled_after: timedelta = SETTLED_AFTER) -> Rows:
    """Return the rows of the recent past."""
    until = timezone.now() - settled_after
    return Rows(until - looked_at_for, until)


@dataclass(frozen=True)
class Contradiction(Diagnosis):
    """The diagnosis of rows that contradict the messages, with the keys of all that do.

    ``consumers``: whose effect it is that is missing, where it is known.
    """

    keys: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()

    @property
    def examples(self) -> tuple[str, ...]:
        """Return as many keys as anybody reads."""
        return self.keys[:MAX_EXAMPLES]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {**super().as_dict(), "count": len(self.keys), "examples": list(self.examples)}


Find = Callable[[Rows], Iterable[object]]


@dataclass(frozen=True)
class Check:
    """What must not be: ``find`` returns the keys of the rows of which it is true."""

    find: Find
    what: Text
    queue: str
    remedy: Text
    consumers: tuple[str, ...] = ()
    settled_after: timedelta = SETTLED_AFTER


_CHECKS: Registry[str, Check] = Registry("findings")


def finds(
    what: Text,
    *,
    queue: str,
    remedy: Text,
    consumers: Collection[str] = (),
    settled_after: timedelta = SETTLED_AFTER,
) -> Callable[[Find], Find]:
    """Register a check. ``queue``: whose owner answers for what is found.

    ``consumers``: by which one of these it was done, so that triage says "done, but" of that one. ``settled_after``:
    how old a row must be before it can be wrong; ``timedelta(0)`` for what one transaction writes together.
    """

    def register(function: Find) -> Find:
        _CHECKS.add(
            f"{function.__module__}.{function.__name__}",
            Check(function, what, queue, remedy, tuple(consumers), settled_after),
        )
        return function

    return register


def findings(*, looked_at_for: timedelta = LOOKED_AT_FOR) -> list[Contradiction]:
    """Run all checks. One that fails is logged, and keeps no other from being run. Raises when the database is away."""
    found = (
        (name, check, _run(name, check, recent(looked_at_for=looked_at_for, settled_after=check.settled_after)))
        for name, check in sorted(_CHECKS.all().items())
    )
    return [_contradiction(name, check, keys) for name, check, keys in found if keys]


def checked_consumers() -> frozenset[str]:
    """Return the consumers whose effect some check looks for: of all others "done" is what the inbox says."""
    return frozenset(consumer for check in _CHECKS.all().values() for consumer in check.consumers)


def contradicting(keys: Collection[str]) -> Mapping[str, list[Contradiction]]:
    """Return what is wrong with the rows of some keys, by key; keys of which nothing is wrong are left out.

    Raises when the database is away.
    """
    rows, found = replace(recent(), keys=tuple(keys)), dict[str, list[Contradiction]]()
    for name, check in sorted(_CHECKS.all().items()):
        for key in _run(name, check, rows):
            found.setdefault(key, []).append(_contradiction(name, check, [key]))
    return found


def _run(name: str, check: Check, rows: Rows) -> list[str]:
    try:
        with transaction.atomic():
            return [str(key) for key in check.find(rows)]
    except Exception as error:
        if is_database_away(error):
            raise
        log.exception("check_failed", check=name)
        return []


def _contradiction(name: str, check: Check, keys: list[str]) -> Contradiction:
    text = _("{count}: {examples}") if len(keys) <= MAX_EXAMPLES else _("{count}, as {examples}")
    return Contradiction(
        about=Resource(Kind.DATA, name),
        what=check.what,
        status=Status.FINDING,
        found=format_lazy(text, count=len(keys), examples=", ".join(keys[:MAX_EXAMPLES])),
        wanted=_("none"),
        remedy=check.remedy,
        owner=queue_named(check.queue).owner,
        keys=tuple(keys),
        consumers=check.consumers,
    )


def _values_of(field: Any, keys: Iterable[str]) -> Iterable[Any]:
    """Return the keys that can be values of the field: triage asks with whatever a person typed."""
    for key in keys:
        try:
            yield field.to_python(key)
        except ValidationError:
            continue
