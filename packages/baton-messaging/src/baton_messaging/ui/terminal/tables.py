"""Tables in a terminal: dead letters and audit, cut to the terminal's width, and the same as JSON."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django.core.management.base import OutputWrapper
from django.core.serializers.json import DjangoJSONEncoder

from baton_messaging.models import AuditEntry, DeadLetter

MIN_COLUMN: Final = 8  # characters; narrower than that, nothing can be told apart
GAP: Final = "  "


def as_json(value: Any) -> str:
    """Return JSON for scripts."""
    return json.dumps(value, cls=DjangoJSONEncoder, indent=2, ensure_ascii=False)


def as_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, width: int | None) -> str:
    """Return aligned columns; the last one is cut at ``width`` characters, or never where there is no terminal.

    >>> print(as_table([{"id": 1, "why": "a long reason"}], ["id", "why"], width=14))
    id  why
    1   a long re…
    """
    cells = [list(columns), *([_cell(row.get(name)) for name in columns] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    if width is not None:
        taken = sum(widths[:-1]) + len(GAP) * (len(columns) - 1)
        widths[-1] = max(min(widths[-1], width - taken), MIN_COLUMN)
    return "\n".join(_line(line, widths) for line in cells)


def dead_letter_row(dead_letter: DeadLetter) -> dict[str, Any]:
    """Return a line of the list."""
    return {
        "id": dead_letter.pk,
        "died_at": dead_letter.died_at,
        "state": dead_letter.state,
        "reason": dead_letter.reason,
        "consumer": dead_letter.consumer,
        "key": dead_letter.key,
        "message_id": dead_letter.message_id,
        "attempts": dead_letter.attempt_count,
        "error": f"{dead_letter.error_class}: {dead_letter.error_message}",
    }


def dead_letter_details(dead_letter: DeadLetter) -> dict[str, Any]:
    """Return all that is known of a dead letter."""
    return dead_letter_row(dead_letter) | {
        "owner": dead_letter.owner,
        "event_name": dead_letter.event_name,
        "group": dead_letter.fingerprint,
        "task_id": dead_letter.task_id,
        "occurred_at": dead_letter.occurred_at,
        "first_failed_at": dead_letter.first_failed_at,
        "requested_at": dead_letter.requested_at,
        "settled_at": dead_letter.settled_at,
        "settled_by": dead_letter.settled_by,
        "seen_count": dead_letter.seen_count,
        "purge_at": dead_letter.purge_at,
        "replay": dead_letter.replay_id,
        "copy_of": dead_letter.copy_of_id,
        "envelope": dead_letter.envelope,
        "raw": dead_letter.raw,
        "traceback": dead_letter.traceback,
    }


def audit_row(entry: AuditEntry) -> dict[str, Any]:
    """Return a line of the audit."""
    return {
        "at": entry.at,
        "actor": entry.actor,
        "via": entry.via,
        "action": entry.action,
        "outcome": entry.outcome,
        "dead_letter_count": entry.dead_letter_count,
        "why": entry.why,
        "details": entry.details,
    }


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value.strftime("%Y-%m-%d %H:%M:%S") if hasattr(value, "strftime") else str(value)
    return " ".join(text.split())


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return GAP.join(_cut(cell, size).ljust(size) for cell, size in zip(cells, widths, strict=True)).rstrip()


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 1]}…"


USUAL_SIZE: Final = (120, 24)  # columns and lines, for a terminal that does not tell


def width_of(out: OutputWrapper) -> int | None:
    """Return the columns of the terminal that a command prints to, None where it prints elsewhere."""
    return shutil.get_terminal_size(USUAL_SIZE).columns if out.isatty() else None
