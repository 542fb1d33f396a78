"""Rows that messages are about, and rows that consumers leave."""

from django.db import models
from django.utils import timezone
from uuid_utils.compat import uuid7


class Parcel(models.Model):
    """A parcel: its id is the key of its messages, and tells its age."""

    id = models.UUIDField(primary_key=True, default=uuid7)
    handed_in_at = models.DateTimeField(default=timezone.now)
    is_shipped = models.BooleanField(default=False)
    needs_attention = models.BooleanField(default=False)

    class Meta:
        app_label = "parcels"

    def __str__(self) -> str:
        return f"parcel {self.pk}"


class Stamp(models.Model):
    """One row per effect: a doubled effect is a doubled row, because nothing here is unique."""

    parcel_id = models.UUIDField()
    consumer = models.CharField(max_length=100)

    class Meta:
        app_label = "parcels"

    def __str__(self) -> str:
        return f"{self.consumer} {self.parcel_id}"
