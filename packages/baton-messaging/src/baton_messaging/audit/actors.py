"""An actor operates on dead letters or consumers, through a door, with permissions.

Seeing, replaying, editing and discarding are separate permissions. Who has a shell on the server may do everything
(``manage.py`` could not stop them), and is named in the audit all the same.
"""

import getpass
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import AbstractUser
from django.http import HttpRequest

from baton_messaging.audit.rights import Right
from baton_messaging.models.audit import Action

PERMISSIONS: Final[dict[Action, str]] = {
    Action.REPLAY: Right.REPLAY.permission,
    Action.STOP: Right.REPLAY.permission,
    Action.RELEASE: Right.REPLAY.permission,
    Action.EDIT: Right.EDIT.permission,
    Action.REDIRECT: Right.EDIT.permission,
    Action.DISCARD: Right.DISCARD.permission,
    Action.RESTORE: Right.DISCARD.permission,
    Action.PAUSE: Right.PAUSE.permission,
    Action.RESUME: Right.PAUSE.permission,
    Action.CANCEL: Right.CHANGE_FUTURE.permission,
    Action.MOVE: Right.CHANGE_FUTURE.permission,
}


@dataclass(frozen=True)
class Actor:
    """A person, or the machinery itself (``user`` is None: nobody to ask for permissions)."""

    name: str
    via: str
    user: AbstractUser | None = None

    @classmethod
    def of_request(cls, request: HttpRequest, *, via: str) -> "Actor":
        """Return who sent a request. A visitor who is not logged in may nothing."""
        user: Any = request.user
        return cls(name=user.get_username() or "anonymous", via=via, user=user)

    @classmethod
    def of_shell(cls) -> "Actor":
        """Return who runs a management command."""
        try:
            name = getpass.getuser()
        except (KeyError, OSError):  # a container may run as a number without a name
            name = "unknown"
        return cls(name=name, via="command")

    @property
    def user_id(self) -> int | None:
        """Return the user's primary key."""
        return self.user.pk if self.user else None

    def may(self, action: Action) -> bool:
        """Tell whether the actor has the right."""
        return self.user is None or (self.user.is_active and self.user.has_perm(PERMISSIONS[action]))


MACHINERY: Final = Actor(name="Baton", via="machinery")
