"""An event tells what happened, as data: its base class, and the register of the events that this release knows.

An event holds ids and figures only, never personal data: it travels through brokers, logs and dashboards.

    class LabelPrinted(Event, name="shipping.label_printed", version=1, key="order_id"):
        order_id: UUID
        carrier: str
"""

from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from baton_messaging.errors import UnknownEvent
from baton_messaging.routing.discovery import Registry

__all__ = ["Event"]

_events: Registry[tuple[str, int], type["Event"]] = Registry("tasks")  # by name and version


class Event(BaseModel):
    """Something that happened, immutable: subclass it with keywords, and fields as in any pydantic model.

    *Shapes*. ``name``: "<app>.<what_happened>", unique with its ``version``. ``key``: the field that holds the id of
    the aggregate which the event is about; pages, triage and pauses search by it, as text of up to 200 characters.
    Fields travel as JSON: decimals as strings, datetimes as ISO 8601, so that nothing passes through a float.

    *Raises*. TypeError at import when ``key`` names no field; pydantic.ValidationError when fields do not fit.

    *Invariant*. Frozen, and published with no field beside the declared ones. What a consumer gets is what was
    published: a field that only a newer release knows is carried along, also through retry, replay and republishing.

    *Hazard*. Messages of both shapes are under way while a new release is deployed. A new optional field keeps the
    version; a changed meaning or a new required field is a new version, in a class of its own beside the old one, until
    the last old message is gone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    event_name: ClassVar[str]
    event_version: ClassVar[int]
    key_field: ClassVar[str]

    def __init_subclass__(cls, *, name: str, version: int = 1, key: str, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.event_name, cls.event_version, cls.key_field = name, version, key

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Register the class once pydantic has collected its fields."""
        del kwargs
        if cls.key_field not in cls.model_fields:
            raise TypeError(f"Expected key= of {cls.__name__} to be one of its fields, got {cls.key_field!r}.")
        _events.add((cls.event_name, cls.event_version), cls)

    @property
    def key(self) -> str:
        """Return the id of the aggregate: what order pages and triage search by."""
        return str(getattr(self, self.key_field))

    def payload(self) -> dict[str, Any]:
        """Return the fields as JSON types; those of another release, which came with a message, unchanged."""
        return {**(self.model_extra or {}), **self.model_dump(mode="json")}

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> Self:
        """Rebuild the event that a message brings. Raises pydantic.ValidationError.

        Tolerant: a field that this release does not know is no error, so that a release which adds one can be deployed
        beside this one. Publishing is strict: whoever makes an event names only fields that it has.
        """
        return cls.model_validate(payload, extra="allow")


def event_class(name: str, version: int) -> type[Event]:
    """Return the class of an event. Raises UnknownEvent."""
    found = _events.get((name, version))
    if found is None:
        raise UnknownEvent(name, version)
    return found


def is_known(name: str) -> bool:
    """Tell whether this release has the event, in any version."""
    return any(known == name for known, _version in _events.all())


def known_names() -> list[str]:
    """Return the names of the events that this release has."""
    return sorted({name for name, _version in _events.all()})


def known_versions(name: str) -> list[int]:
    """Return the versions of an event that this release has, the oldest first."""
    return sorted(version for known, version in _events.all() if known == name)


def misfits(error: ValidationError) -> str:
    """Name the fields that do not fit, without their values: payloads stay out of logs."""
    return ", ".join(
        (".".join(str(part) for part in item["loc"]) or "the payload itself") + f" ({item['type']})"
        for item in error.errors()
    )
