"""What the measured work touches. Created by `migrate --run-syncdb`: there are no migrations to keep."""

from django.db import connection, models


class Stock(models.Model):
    """The row that a message updates."""

    sku = models.CharField(max_length=64, primary_key=True)
    reserved = models.IntegerField(default=0)

    objects: models.Manager["Stock"] = models.Manager()

    def __str__(self) -> str:
        return self.sku


class Effect(models.Model):
    """The row that a message inserts. ``order_id`` is not unique on purpose: a doubled effect must be seen.

    The table has one column more, of which the work knows nothing: see `let_effects_be_timed`.
    """

    order_id = models.UUIDField()
    sku = models.CharField(max_length=64)
    quantity = models.IntegerField()

    objects: models.Manager["Effect"] = models.Manager()

    def __str__(self) -> str:
        return str(self.order_id)


class Timing(models.Model):
    """When a handler began with a message."""

    order_id = models.UUIDField(unique=True)
    handled_at = models.DateTimeField()

    objects: models.Manager["Timing"] = models.Manager()

    def __str__(self) -> str:
        return str(self.order_id)


class SeenMessage(models.Model):
    """The inbox of the plain task, as most projects have one."""

    message_id = models.UUIDField(unique=True)
    seen_at = models.DateTimeField(auto_now_add=True)

    objects: models.Manager["SeenMessage"] = models.Manager()

    def __str__(self) -> str:
        return str(self.message_id)


def let_effects_be_timed() -> None:
    """Add the moment of the insert to each effect: the bench reads from them how long it took."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE benchmarks_effect ADD created_at timestamptz DEFAULT clock_timestamp()")
