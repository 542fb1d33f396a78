"""Which mail went out for which order, or for which export.

Invariant: one row per order (or export) and kind (``mail_once_per_order_and_kind``), written before the mail is handed
over and in the same transaction as the inbox row. A row that is there means: do not send again.
"""

from uuid import UUID

from django.db import connection, models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Kind(models.TextChoices):
    """What a mail tells the customer."""

    RECEIVED = "received", _("order received")
    CONFIRMED = "confirmed", _("order confirmed")
    REJECTED = "rejected", _("order rejected")
    CANCELLED = "cancelled", _("order cancelled")
    OVERDUE = "overdue", _("order overdue")
    EXPORT_READY = "export_ready", _("export ready")  # order_id then holds the export's id
    EXPORT_EXPIRING = "export_expiring", _("export expiring")


class Outcome(models.TextChoices):
    """What was done about it. ``withheld``: the order had moved on, so the mail would have told an untruth."""

    SENT = "sent", _("sent")
    WITHHELD = "withheld", _("withheld")


class MailLogQuerySet(models.QuerySet["MailLog"]):
    """Verbs of the mail log."""

    def claim(self, *, order_id: UUID, kind: Kind, outcome: Outcome, language: str, message_id: str) -> bool:
        """Insert the row, unless it is there; tell whether it was new.

        A transaction that inserts the same row is waited for: if it rolls back, the mail is ours to send.
        """
        with connection.cursor() as cursor:
            cursor.execute(
                """
                INSERT INTO notifications_maillog (order_id, kind, outcome, language, message_id, created_at)
                VALUES (%s, %s, %s, %s, %s, clock_timestamp())
                ON CONFLICT (order_id, kind) DO NOTHING
                """,
                [order_id, kind.value, outcome.value, language, message_id],
            )
            return bool(cursor.rowcount == 1)


class MailLog(models.Model):
    """One mail to one customer, or to who asked for an export. Holds no address: the order or the user has it."""

    order_id = models.UUIDField(_("order"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome.choices)
    language = models.CharField(_("language"), max_length=10)
    message_id = models.CharField(_("Message-ID"), max_length=320)
    created_at = models.DateTimeField(_("created at"), db_default=Now())

    objects = MailLogQuerySet.as_manager()

    class Meta:
        verbose_name = _("mail")
        verbose_name_plural = _("mail log")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["-created_at"], name="mail_newest_first")]
        constraints = [
            models.UniqueConstraint(name="mail_once_per_order_and_kind", fields=["order_id", "kind"]),
            models.CheckConstraint(name="mail_kind_known", condition=models.Q(kind__in=Kind.values)),
            models.CheckConstraint(name="mail_outcome_known", condition=models.Q(outcome__in=Outcome.values)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.order_id}"
