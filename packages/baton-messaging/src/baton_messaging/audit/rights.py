"""The rights of people: which action needs which permission, whatever the door: page, API, admin.

``docs/security.md`` of the scaffold shows this table, and its tests walk every address by it. Commands ask for none:
who has a shell on the server may do everything (``Actor.of_shell``).
"""

from enum import Enum
from typing import Any


class Right(Enum):
    """An action in words, and the permission that it needs."""

    SEE_DEAD_LETTERS = "see dead letters, replays and the audit", "baton_messaging.view_deadletter"
    SEE_TRIAGE = "see whose a message is, and what is stuck", "baton_messaging.view_deadletter"
    SEE_BOARD = "see the board", "baton_messaging.view_deadletter"
    SEE_DOCTOR = "see what the doctor finds", "baton_messaging.view_deadletter"
    SEE_CONSUMERS = "list consumers, and what holds them", "baton_messaging.view_pause"
    REPLAY = "replay (dry run included), stop and release a replay", "baton_messaging.replay_deadletter"
    EDIT = "edit and replay (dry run included), redirect", "baton_messaging.edit_deadletter"
    DISCARD = "discard and restore", "baton_messaging.discard_deadletter"
    SEE_FUTURE = "see messages that are not due yet", "baton_messaging.view_futuremessage"
    CHANGE_FUTURE = "cancel and move messages that are not due yet", "baton_messaging.change_futuremessage"
    PAUSE = "pause and resume consumers and keys", "baton_messaging.pause_consumer"

    def __init__(self, action: str, permission: str) -> None:
        self.action = action
        self.permission = permission

    def is_of(self, user: Any) -> bool:
        """Tell whether somebody has the right. Nobody has any who is not active."""
        return bool(user.has_perm(self.permission))

    def sentence(self) -> str:
        """Return what whoever lacks it is told."""
        return f"Expected the permission {self.permission}. Ask an administrator for it."
