"""What triage learns from parcels: which ids are parcels, and what each still waits for."""

from collections.abc import Collection, Iterable
from datetime import datetime

from baton_messaging.extend.triage import Subject, SubjectKind, register, uuids_in

from tests.parcels.events import ParcelHandedIn
from tests.parcels.models import Parcel

_QUEUE = "parcels"


def find_parcels(keys: Collection[str]) -> dict[str, Subject]:
    """Return those of the keys that are parcels."""
    return {str(parcel.pk): _subject(parcel) for parcel in Parcel.objects.filter(pk__in=uuids_in(keys))}


def unsettled_parcels(before: datetime, limit: int) -> Iterable[str]:
    """Return the ids of parcels that are not shipped, the oldest first."""
    waiting = Parcel.objects.filter(is_shipped=False, handed_in_at__lt=before).order_by("handed_in_at")
    return [str(parcel_id) for parcel_id in waiting.values_list("pk", flat=True)[:limit]]


def _subject(parcel: Parcel) -> Subject:
    return Subject(
        kind="parcel",
        key=str(parcel.pk),
        queue=_QUEUE,
        first_event=ParcelHandedIn.event_name,
        created_at=parcel.handed_in_at,
        is_settled=parcel.is_shipped,
        awaited=() if parcel.is_shipped else ("sample.weighed",),
    )


register(
    SubjectKind(
        name="parcel",
        label="parcel",
        first_event=ParcelHandedIn.event_name,
        queue=_QUEUE,
        find=find_parcels,
        unsettled=unsettled_parcels,
    )
)
