"""What is done with parcels; each is one transaction, or part of its caller's."""

from uuid import UUID

from baton_messaging.publish import publish
from django.db import transaction

from tests.parcels.events import ParcelHandedIn
from tests.parcels.models import Parcel, Stamp


def hand_in() -> Parcel:
    """Take a parcel, and say so."""
    with transaction.atomic():
        parcel = Parcel.objects.create()
        publish(ParcelHandedIn(parcel_id=parcel.pk))
    return parcel


def ship(parcel_id: UUID) -> None:
    """End a parcel's way."""
    Parcel.objects.filter(pk=parcel_id).update(is_shipped=True)
    stamp(parcel_id, "ship")


def archive(parcel_id: UUID) -> None:
    """Put a parcel away, unless it is."""
    Stamp.objects.get_or_create(parcel_id=parcel_id, consumer="archive")


def stamp(parcel_id: UUID, consumer: str) -> None:
    """Leave the trace of a consumer."""
    Stamp.objects.create(parcel_id=parcel_id, consumer=consumer)
