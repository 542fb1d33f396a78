"""Invoices: what is to be settled, and what is in the way of it."""

from django.db import models


class Invoice(models.Model):
    """One invoice. ``trouble``: what its consumer meets."""

    class Trouble(models.TextChoices):
        """Nothing, a server that is away, a bug."""

        NONE = ""
        AWAY = "away"
        BUG = "bug"

    trouble = models.CharField(max_length=8, choices=Trouble, default=Trouble.NONE, blank=True)
    settled_count = models.IntegerField(default=0)

    def __str__(self) -> str:
        return f"invoice {self.pk}"
