"""What the reconciler reports about parcels: those that no message tells of, and those processed without a stamp."""

from collections.abc import Iterable

from baton_messaging.extend import owner_of_queue
from baton_messaging.extend.findings import MAX_EXAMPLES, Finding, finds, keys_processed, was_published, window
from django.db.models import Exists, OuterRef, UUIDField
from django.db.models.functions import Cast

from tests.parcels.events import ParcelHandedIn
from tests.parcels.models import Parcel, Stamp


@finds
def parcels_without_message() -> Finding | None:
    """Return the recent parcels that have no message in the outbox."""
    after, before = window()
    handed_in = Parcel.objects.filter(handed_in_at__gte=after, handed_in_at__lt=before)
    return _finding("parcels without a message", handed_in.filter(~was_published(ParcelHandedIn)).values_list("pk"))


@finds
def processed_without_stamp() -> Finding | None:
    """Return the recent parcels that count as counted and have no stamp."""
    after, before = window()
    stamped = Exists(Stamp.objects.filter(parcel_id=Cast(OuterRef("key"), UUIDField())))
    keys = keys_processed("parcels.count", after=after, before=before, unless=stamped)
    return _finding("parcels without a stamp", [(key,) for key in keys])


def _finding(what: str, rows: Iterable[tuple[object, ...]]) -> Finding | None:
    keys = [str(key) for (key,) in rows]
    if not keys:
        return None
    owner = str(owner_of_queue("parcels"))
    return Finding(what=what, count=len(keys), examples=tuple(keys[:MAX_EXAMPLES]), owner=owner, remedy="Look at them.")
