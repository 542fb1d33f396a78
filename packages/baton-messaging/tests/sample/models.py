"""Rows that the sample consumers leave."""

from django.db import models


class Effect(models.Model):
    """One row per effect: a doubled effect is a doubled row, because nothing here is unique."""

    sample_id = models.UUIDField()
    consumer = models.CharField(max_length=100)

    class Meta:
        app_label = "sample"

    def __str__(self) -> str:
        return f"{self.consumer} {self.sample_id}"
