"""How far an export got, how fast it goes and how long it will take: what the page's bar shows."""

from dataclasses import dataclass
from datetime import datetime

from orders.exports import wording
from orders.exports.models import Export
from orders.exports.states import ExportState

_MIN_SECONDS = 1.0  # below that a rate says nothing


@dataclass(frozen=True)
class Progress:
    """An export at a moment of the database's clock."""

    export: Export
    now: datetime

    @property
    def rows_per_second(self) -> int | None:
        """Return the mean rate since the start; None while there is too little to tell."""
        seconds = self._seconds_running
        if seconds is None or seconds < _MIN_SECONDS or not self.export.rows_done:
            return None
        return round(self.export.rows_done / seconds)

    @property
    def time_left(self) -> str | None:
        """Return how long it will take at this rate, in words."""
        if not self.rows_per_second or self.export.rows_total is None:
            return None
        return wording.duration((self.export.rows_total - self.export.rows_done) / self.rows_per_second)

    @property
    def is_storing(self) -> bool:
        """Tell whether all rows are written and the file is on its way to its place."""
        export = self.export
        return export.state == ExportState.RUNNING and 0 < export.rows_done == export.rows_total

    @property
    def reason(self) -> str | None:
        """Return why it failed, in a sentence."""
        return wording.failure_sentence(self.export)

    @property
    def _seconds_running(self) -> float | None:
        if self.export.state != ExportState.RUNNING or self.export.started_at is None:
            return None
        return (self.now - self.export.started_at).total_seconds()
