"""The last alert of a group of dead letters: its owner gets one a period, not one a message.

Invariant: one row per group; of two tellers at once the second finds the row taken (a conditional UPDATE).
"""

from django.db import models


class GroupAlert(models.Model):
    """The last alert about one group. It goes with the group's last unsettled dead letter: the next one is news."""

    fingerprint = models.CharField(max_length=64, unique=True)
    alerted_at = models.DateTimeField()
    dead_letter_count = models.PositiveIntegerField()
    # When the group's age was last told.
    aged_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "baton_group_alert"
        verbose_name = "alert"
        default_permissions = ()

    def __str__(self) -> str:
        return self.fingerprint
