"""The list of consumers tells which run and which wait: what ``manage.py consumers list`` prints."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from baton_messaging.flow_control.holds import current_holds
from baton_messaging.models import Attempt, Circuit, Pause
from baton_messaging.routing.ownership import owner_of
from baton_messaging.routing.subscriptions import all_consumers

HoldState = Literal["running", "paused", "half-open"]


@dataclass(frozen=True)
class FlowStatus:
    """One consumer, or one key of an event. ``waiting_count`` are its messages that wait in the retry table."""

    name: str
    state: HoldState
    owner: str
    waiting_count: int
    detail: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return asdict(self)


def listing() -> list[FlowStatus]:
    """Return the consumers in name order, then the keys."""
    holds = current_holds()
    paused = {pause.consumer: _pause_text(pause) for pause in holds.pauses}
    tried = {circuit.consumer: circuit for circuit in holds.circuits}
    waiting = Attempt.objects.waiting_by_consumer()
    lines = []
    for consumer in sorted({*all_consumers(), *(name for name in paused if name), *tried}):
        state: HoldState = "paused" if consumer in paused else "half-open" if consumer in tried else "running"
        detail = paused.get(consumer) or (_circuit_text(tried[consumer]) if consumer in tried else "")
        lines.append(FlowStatus(consumer, state, str(owner_of(consumer)), waiting.get(consumer, 0), detail))
    for pause in (pause for pause in holds.pauses if pause.key):
        count = Attempt.objects.filter(sent_at=None, key=pause.key, envelope__name=pause.event_name).count()
        lines.append(FlowStatus(pause.target, "paused", "", count, _pause_text(pause)))
    return lines


def _pause_text(pause: Pause) -> str:
    return f"by {pause.paused_by} since {_text(pause.paused_at)}: {pause.why}"


def _circuit_text(circuit: Circuit) -> str:
    return (
        f"since {_text(circuit.opened_at)}, {circuit.probe_count} probes failed, "
        f"next at {_text(circuit.next_probe_at)}: {circuit.error_class}"
    )


def _text(moment: Any) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
