"""What the reconciler reports about parcels: those that no message tells of, and those processed without a stamp."""

from collections.abc import Iterable

from baton_messaging.extend.findings import Rows, finds, keys_processed, was_published
from django.db.models import Exists, OuterRef, UUIDField
from django.db.models.functions import Cast

from tests.parcels.events import ParcelHandedIn
from tests.parcels.models import Parcel, Stamp


@finds("parcels without a message", queue="parcels", remedy="Look at them.")
def parcels_without_message(rows: Rows) -> Iterable[object]:
    """Return the parcels that have no message in the outbox."""
    handed_in = rows.select(Parcel.objects.all(), at="handed_in_at")
    return handed_in.filter(~was_published(ParcelHandedIn)).values_list("pk", flat=True)


@finds("parcels without a stamp", queue="parcels", remedy="Look at them.")
def processed_without_stamp(rows: Rows) -> Iterable[object]:
    """Return the parcels that count as counted and have no stamp."""
    stamped = Exists(Stamp.objects.filter(parcel_id=Cast(OuterRef("key"), UUIDField())))
    return keys_processed("parcels.count", rows, unless=stamped)
