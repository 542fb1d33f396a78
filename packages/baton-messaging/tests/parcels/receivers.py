"""What parcels hear from the machinery: which of them a dead letter is about."""

from typing import Any

from baton_messaging.extend.triage import uuids_in
from baton_messaging.signals import dead_lettered, dead_letters_settled
from django.db.models import QuerySet
from django.dispatch import receiver

from tests.parcels.models import Parcel


@receiver(dead_lettered, dispatch_uid="parcels.flag")
def flag(*, key: str, **_kwargs: Any) -> None:
    """Mark the parcel."""
    _parcels({key}).update(needs_attention=True)


@receiver(dead_letters_settled, dispatch_uid="parcels.unflag")
def unflag(*, keys: set[str], **_kwargs: Any) -> None:
    """Take the mark back."""
    _parcels(keys).update(needs_attention=False)


def _parcels(keys: set[str]) -> QuerySet[Parcel]:
    """Return the parcels among the keys: those of other rows, and those made up, are none."""
    return Parcel.objects.filter(pk__in=uuids_in(keys))
