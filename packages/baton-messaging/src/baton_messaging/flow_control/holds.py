"""Holds tell what waits at this moment: read only after another statement has said that there is any.

Source of truth are the rows of ``Pause`` and ``Circuit``; nothing is cached, so a pause is in force when it commits.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from baton_messaging.messages.envelope import Envelope
from baton_messaging.models import Circuit, Pause


@dataclass(frozen=True)
class Hold:
    """One reason to wait."""

    since: datetime
    by: str = ""  # a person; empty for a circuit
    cause: Pause | Circuit | None = None

    def __str__(self) -> str:
        """Return the reason, without the name of whoever paused: customers read it, too."""
        since = self.since.strftime("%Y-%m-%d %H:%M UTC")
        if self.by:
            return _("paused since %(since)s") % {"since": since}
        return _("waits since %(since)s: the last messages all failed, one at a time is tried") % {"since": since}


@dataclass(frozen=True)
class Holds:
    """All that is held back."""

    pauses: tuple[Pause, ...]
    circuits: tuple[Circuit, ...]

    def on(self, consumer: str, *, event_name: str, key: str, message_id: UUID) -> Hold | None:
        """Return why this message must wait for this consumer, None when it need not."""
        for pause in self.pauses:
            if pause.consumer == consumer or (pause.event_name, pause.key) == (event_name, key):
                return Hold(since=pause.paused_at, by=pause.paused_by, cause=pause)
        for circuit in self.circuits:
            if circuit.consumer == consumer and circuit.probe_message_id != message_id and circuit.opened_at:
                return Hold(since=circuit.opened_at, cause=circuit)
        return None

    def on_envelope(self, consumer: str, envelope: Envelope) -> Hold | None:
        """Return why this envelope must wait for this consumer."""
        return self.on(consumer, event_name=envelope.name, key=envelope.key, message_id=envelope.message_id)


def current_holds() -> Holds:
    """Read them. Two tables of a few rows."""
    return Holds(
        pauses=tuple(Pause.objects.in_force()),
        circuits=tuple(Circuit.objects.open()),
    )
