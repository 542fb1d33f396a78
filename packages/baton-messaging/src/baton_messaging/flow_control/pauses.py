"""A pause is the kill switch: one consumer, or one key of one event, is held back, live, and goes on when resumed.

``manage.py consumers`` and the admin are two doors to these functions. Invariant: a pause, its end and their audit
entries are one commit each; what is refused has an entry, too. Nothing that is held costs an attempt.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from django.db import IntegrityError, transaction

from baton_messaging.audit.actors import Actor
from baton_messaging.audit.errors import OperationRefused
from baton_messaging.audit.operations import operation
from baton_messaging.database.outbox_notify import notify_relay_on_commit
from baton_messaging.events import known_names
from baton_messaging.models import Pause
from baton_messaging.models.audit import Action
from baton_messaging.routing.subscriptions import all_consumers

MAX_NAME_LENGTH: Final = 200  # characters, as the columns take
MAX_KEY_LENGTH: Final = 200


class UnknownTarget(OperationRefused):
    """What is to be paused does not exist in this release."""

    code = "unknown_target"

    def __init__(self, what: str, given: str, known: list[str]) -> None:
        nearest = get_close_matches(given, known, n=1, cutoff=0)
        hint = f" Did you mean {nearest[0]}?" if nearest else ""
        super().__init__(f"Expected {what} of this release, got {given!r}.{hint}")


class AlreadyPaused(OperationRefused):
    """It is held back already."""

    code = "already_paused"

    def __init__(self, target: str) -> None:
        super().__init__(f"Expected {target} to be running, got one that is paused already. Resume it first.")


class NotPaused(OperationRefused):
    """There is nothing to resume."""

    code = "not_paused"

    def __init__(self, target: str) -> None:
        super().__init__(f"Expected {target} to be paused, got one that is not. Another person may have resumed it.")


@dataclass(frozen=True)
class Target:
    """A consumer; or an event and the key of one aggregate, for all consumers of the event."""

    consumer: str = ""
    event_name: str = ""
    key: str = ""

    def __str__(self) -> str:
        return self.consumer or f"{self.event_name} {self.key}"

    def check(self) -> None:
        """Refuse what this release does not have: a typo would pause nothing. Raises UnknownTarget."""
        if self.consumer and (self.event_name or self.key):
            given = ", ".join(part for part in (self.consumer, self.event_name, self.key) if part)
            raise UnknownTarget("either a consumer, or an event and a key", given, [])
        if self.consumer and self.consumer not in all_consumers():
            raise UnknownTarget("a consumer", self.consumer, all_consumers())
        if not self.consumer and self.event_name not in known_names():
            raise UnknownTarget("an event", self.event_name, known_names())
        if not self.consumer and not 0 < len(self.key) <= MAX_KEY_LENGTH:
            what = f"the key of one aggregate, of at most {MAX_KEY_LENGTH} characters, for an event"
            raise UnknownTarget(what, self.key[: MAX_KEY_LENGTH + 1], [])

    @property
    def fields(self) -> dict[str, str]:
        """Return the columns that name it."""
        return {"consumer": self.consumer, "event_name": self.event_name, "key": self.key}


def pause(target: Target, *, actor: Actor, why: str) -> Pause:
    """Hold the target back from now on. What a worker has begun is finished. Raises OperationRefused."""
    with operation(actor, Action.PAUSE, why=why, details=target.fields) as done:
        target.check()
        try:
            with transaction.atomic():
                return Pause.objects.create(**target.fields, paused_by=actor.name, via=actor.via, why=done.why)
        except IntegrityError as error:
            if "baton_pause_once_per_target" not in str(error):
                raise
            raise AlreadyPaused(str(target)) from None


def resume(target: Target, *, actor: Actor, why: str = "") -> None:
    """Let the target go on: what waited leaves at the relay's next round, at once. Raises OperationRefused.

    A consumer that this release no longer has can be resumed, too.
    """
    with operation(actor, Action.RESUME, why=why, details=target.fields) as done:
        if not Pause.objects.filter(**target.fields).resume(by=actor.name, why=done.why):
            raise NotPaused(str(target))
        notify_relay_on_commit()
