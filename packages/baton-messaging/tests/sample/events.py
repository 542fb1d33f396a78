"""Events of the samples."""

from uuid import UUID

from baton_messaging.events import Event


class Sampled(Event, name="sample.sampled", version=1, key="sample_id"):
    """Says how its consumers are to behave: see tests/sample/tasks.py."""

    sample_id: UUID
    behaviour: str = "ok"
    seconds: float = 0


class Chained(Event, name="sample.chained", version=1, key="sample_id"):
    sample_id: UUID


class Listed(Event, name="sample.listed", version=1, key="sample_id"):
    """Goes to a consumer that takes lists."""

    sample_id: UUID
    behaviour: str = "ok"


class Doomed(Event, name="sample.doomed", version=1, key="sample_id"):
    """Goes to a consumer with short limits, which dies of whatever it is told."""

    sample_id: UUID
    behaviour: str = "ok"


class Weighed(Event, name="sample.weighed", version=1, key="parcel_id"):
    """Answers another app: what it handed in was weighed."""

    parcel_id: UUID


class Fleeting(Event, name="sample.fleeting", version=1, key="sample_id"):
    """Goes to a consumer whose messages have expired when they arrive."""

    sample_id: UUID
