"""Consumers of parcels: one of another app's event, two of its own; one of these in a lane."""

from baton_messaging.consumer import consumer

from tests.parcels import services
from tests.parcels.events import ParcelHandedIn
from tests.sample.events import Weighed


@consumer(Weighed)
def ship(event: Weighed) -> None:
    """Ship what was weighed."""
    services.ship(event.parcel_id)


@consumer(ParcelHandedIn)
def count(event: ParcelHandedIn) -> None:
    """Count what was handed in."""
    services.stamp(event.parcel_id, "count")


@consumer(
    ParcelHandedIn, queue="parcels.bulk", atomic=False, idempotent_by="the stamp", soft_time_limit=1200, time_limit=1260
)
def archive(event: ParcelHandedIn) -> None:
    """Put away what was handed in; that may wait, and take long."""
    services.archive(event.parcel_id)
