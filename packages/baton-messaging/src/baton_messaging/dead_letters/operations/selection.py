"""A selection says which dead letters are meant, the same for the desk's lists, the command, the API and operations.

A selection can be written down as a dictionary of texts, which is what links, forms, JSON and the audit carry.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from django.db.models import Q, TextField, Value
from django.db.models.functions import Concat
from django.utils.dateparse import parse_date, parse_datetime

from baton_messaging.database.text import typed_id
from baton_messaging.dead_letters.operations.errors import BadSelection
from baton_messaging.models import DeadLetter
from baton_messaging.models.dead_letter import DeadLetterQuerySet, Reason, State

_GAP = Value("\n")  # what no search can contain, so that nothing matches across two columns
_TEXTS = ("error_message", _GAP, "error_class", _GAP, "consumer", _GAP, "event_name", _GAP, "task_id")
MAX_TEXT_LENGTH = 200  # characters; what one looks for in an error fits
GROUP_LENGTH = 64  # characters of a fingerprint
MAX_IDS = 10_000  # named one by one; more than that are selected by what they have in common


@dataclass(frozen=True)
class Selection:
    """What dead letters must have in common; empty means: any. ``text`` is searched for in ids, errors and names."""

    ids: tuple[int, ...] = ()
    group: str = ""
    consumer: str = ""
    owner: str = ""
    reason: str = ""
    state: str = ""
    replay: int | None = None
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Selection":
        """Read a selection from texts: a query string, a form, JSON. Raises BadSelection."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise BadSelection(f"Expected fields among {', '.join(sorted(known))}, got {', '.join(unknown)[:200]}.")
        given = {name: value for name, value in values.items() if value not in ("", None)}
        read: dict[str, Any] = {name: _read(name, value) for name, value in given.items()}
        return Selection(**read)

    def as_dict(self) -> dict[str, Any]:
        """Return what ``of`` reads, without the empty fields."""
        found: dict[str, Any] = {name: value for name, value in asdict(self).items() if value not in ("", None, ())}
        if "ids" in found:
            found["ids"] = list(self.ids)
        for name in ("since", "until"):
            if name in found:
                found[name] = found[name].isoformat()
        return found

    def must_name(self, what: str) -> None:
        """Refuse a selection by which every dead letter would be meant. Raises BadSelection."""
        if not self.as_dict():
            raise BadSelection(f"Expected a selection, got an empty one. Say which dead letters to {what}.")

    @property
    def _group_lookup(self) -> str:
        """Take the beginning of a group's name, too: terminals show no more."""
        return "fingerprint" if len(self.group) == GROUP_LENGTH else "fingerprint__startswith"

    def dead_letters(self) -> DeadLetterQuerySet:
        """Return the dead letters that are meant."""
        exact = {self._group_lookup: self.group, "consumer": self.consumer, "reason": self.reason, "state": self.state}
        dead_letters = DeadLetter.objects.filter(**{name: value for name, value in exact.items() if value})
        if self.ids:
            dead_letters = dead_letters.filter(pk__in=self.ids)
        if self.replay is not None:
            dead_letters = dead_letters.filter(replay=self.replay)
        if self.owner:
            dead_letters = dead_letters.filter(owner__icontains=self.owner)
        if self.since:
            dead_letters = dead_letters.filter(died_at__gte=self.since)
        if self.until:
            dead_letters = dead_letters.filter(died_at__lt=self.until)
        return _matching(dead_letters, self.text) if self.text else dead_letters


def _matching(dead_letters: DeadLetterQuerySet, text: str) -> DeadLetterQuerySet:
    """Match an id exactly, which takes an index; anything else anywhere in the texts, or at the end of a key.

    The texts are joined before they are compared: folding case once a row is what such a search costs.
    """
    try:
        wanted = UUID(typed_id(text))
    except ValueError:
        texts: Any = dead_letters.alias(texts=Concat(*_TEXTS, output_field=TextField()))
        return cast("DeadLetterQuerySet", texts.filter(Q(texts__icontains=text) | Q(key__iendswith=typed_id(text))))
    return dead_letters.filter(Q(message_id=wanted) | Q(key=str(wanted)) | Q(task_id=str(wanted)))


def _read(name: str, value: Any) -> Any:
    reader: Callable[[str, Any], Any] = _READERS.get(name, _text)
    return reader(name, value)


def _text(name: str, value: Any) -> str:
    text = str(value).strip()
    if len(text) > MAX_TEXT_LENGTH or not text.isprintable():
        raise BadSelection(f"Expected {name} to have at most {MAX_TEXT_LENGTH} printable characters.")
    return text


def _ids(name: str, value: Any) -> tuple[int, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    try:
        ids = tuple(sorted({_whole(part) for part in parts}))
    except (TypeError, ValueError):
        raise BadSelection(f"Expected {name} to be numbers of dead letters, got something else.") from None
    if len(ids) > MAX_IDS or any(not 0 < number < 2**63 for number in ids):
        raise BadSelection(f"Expected {name} to be at most {MAX_IDS} numbers of dead letters, got {len(ids)}.")
    return ids


def _whole(part: Any) -> int:
    """Read digits or a whole number. JSON's 1.5 is not dead letter 1, and its 1e400 is infinite."""
    if isinstance(part, bool) or not isinstance(part, int | str):
        raise TypeError
    return int(part)


def _number(name: str, value: Any) -> int:
    return _ids(name, [value])[0]


def _choice(name: str, value: Any) -> str:
    choices = Reason.values if name == "reason" else State.values
    if value not in choices:
        raise BadSelection(f"Expected {name} to be one of {', '.join(choices)}, got {str(value)[:50]!r}.")
    return str(value)


def _time(name: str, value: Any) -> datetime:
    text = str(value)
    try:
        day = parse_date(text)
        time = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else parse_datetime(text)
    except ValueError:
        time = None
    if time is None:
        raise BadSelection(f"Expected {name} to be a time in ISO 8601, as in 2026-11-29T08:00Z, got {text[:50]!r}.")
    return time if time.tzinfo else time.replace(tzinfo=UTC)


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "ids": _ids,
    "replay": _number,
    "reason": _choice,
    "state": _choice,
    "since": _time,
    "until": _time,
}
