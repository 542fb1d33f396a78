"""What the measured work touches. Created by `migrate --run-syncdb`: there are no migrations to keep."""

from django.db import connection, models
from django.db.models.functions import Now


class Stock(models.Model):
    """The row that a message updates."""

    sku = models.CharField(max_length=64, primary_key=True)
    reserved = models.IntegerField(default=0)

    objects: models.Manager["Stock"] = models.Manager()

    def __str__(self) -> str:
        return self.sku


class Effect(models.Model):
    """The row that a message inserts. ``order_id`` is not unique on purpose: a doubled effect must be seen."""

    order_id = models.UUIDField()
    sku = models.CharField(max_length=64)
    quantity = models.IntegerField()
    handled_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects: models.Manager["Effect"] = models.Manager()

    def __str__(self) -> str:
        return str(self.order_id)


class SeenMessage(models.Model):
    """The inbox of the plain task, as most projects have one."""

    message_id = models.UUIDField(unique=True)
    seen_at = models.DateTimeField(auto_now_add=True)

    objects: models.Manager["SeenMessage"] = models.Manager()

    def __str__(self) -> str:
        return str(self.message_id)


def create_clock_defaults() -> None:
    """Let rows carry the moment of their insert, not of their transaction's start: it is what the bench measures by."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE benchmarks_effect ALTER COLUMN created_at SET DEFAULT clock_timestamp()")
