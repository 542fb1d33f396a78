"""Events of parcels."""

from uuid import UUID

from baton_messaging.events import Event


class ParcelHandedIn(Event, name="parcels.handed_in", version=1, key="parcel_id"):
    """Goes to the sample app, which weighs, and to two consumers of this app."""

    parcel_id: UUID
