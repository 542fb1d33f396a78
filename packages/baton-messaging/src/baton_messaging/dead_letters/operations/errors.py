"""An error refuses an operation on dead letters, beyond what any operation may be refused for (audit/errors.py)."""

from collections.abc import Iterable

from baton_messaging.audit.errors import OperationRefused
from baton_messaging.database.text import storable


class BadSelection(OperationRefused):
    """The selection names something that does not exist, or nothing at all."""

    code = "bad_selection"


class NothingToDo(OperationRefused):
    """No dead letter of the selection is in a state that allows the operation."""

    code = "nothing_to_do"

    def __init__(self, expected: str, matching_count: int) -> None:
        super().__init__(
            f"Expected at least one {expected}, got none among the {matching_count} that match. "
            "Look at their state: another person may have dealt with them."
        )


class NotEditable(OperationRefused):
    """This dead letter cannot be sent as an edited copy."""

    code = "not_editable"


class BadPayload(OperationRefused):
    """The edited payload does not fit the event, or is none."""

    code = "bad_payload"

    def __init__(self, event_name: str, version: int, fields: str) -> None:
        # Names that the event does not have are the sender's, so they can hold anything.
        where = storable(fields)
        super().__init__(
            f"Expected a payload that fits {event_name} version {version}, but these fields do not: {where}."
        )


class NotChanged(OperationRefused):
    """An edit that changes nothing would only lose the message its identity."""

    code = "not_changed"

    def __init__(self) -> None:
        super().__init__("Expected an edited payload, got the one that is there. Replay the message as it is.")


class AlreadyApplied(OperationRefused):
    """The inbox has the message: an edited copy would be a second effect."""

    code = "already_applied"

    def __init__(self) -> None:
        super().__init__("Expected a message without effect, got one that the inbox knows as applied. Discard it.")


class BadRedirect(OperationRefused):
    """The other consumer does not take this event."""

    code = "bad_redirect"

    def __init__(self, event_names: Iterable[str], consumer: str, candidates: Iterable[str]) -> None:
        super().__init__(
            f"Expected a consumer of {', '.join(sorted(event_names))}, got {consumer!r}. "
            f"There is: {', '.join(sorted(candidates)) or 'none'}."
        )
