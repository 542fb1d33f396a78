"""Events to consumers that are not as they should be."""

from uuid import UUID

from baton_messaging.events import Event


class Laned(Event, name="blame.laned", key="blame_id"):
    """Goes to a lane that no worker consumes."""

    blame_id: UUID


class Misfit(Event, name="blame.misfit", key="blame_id"):
    """Goes to a queue that the broker may have with other arguments."""

    blame_id: UUID


class Hurried(Event, name="blame.hurried", key="blame_id"):
    """Goes to a consumer with limits of a second or two."""

    blame_id: UUID
    behaviour: str = "ok"


class Lingered(Event, name="blame.lingered", key="blame_id"):
    """Goes to a consumer that takes its time."""

    blame_id: UUID
    seconds: float
