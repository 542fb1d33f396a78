"""Alerts tell the owner of a queue what died: a new failure at once, a growing group by count, an old one by age.

One alert per group and period, not one per message. Invariant: the alert's row and its sending are one transaction, so
a mail server that is away costs nothing but time, and of two tellers at once the second finds the group told.
Where it goes is a Django signal (``dead_letters_alert``): the mail is one receiver; a chat is ten lines of your own.
The mail holds names, counts and times only: the error's text may hold more than a mailbox should.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import structlog
from django.apps import apps
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.dispatch import receiver
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation

from baton_messaging.conf import Team, baton
from baton_messaging.dead_letters.operations.groups import Group, groups_of
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.models import DeadLetter, GroupAlert
from baton_messaging.routing.ownership import owner_as_kept
from baton_messaging.signals import dead_letters_alert

log = structlog.get_logger(__name__)

AlertKind = Literal["new", "growing", "old"]
CauseOf = Callable[[Group], Diagnosis | None]


@dataclass(frozen=True)
class Alert:
    """What a receiver of the signal gets. ``cause``: what stands in the consumer's way now, if that is known."""

    kind: AlertKind
    group: Group
    cause: Diagnosis | None = None

    @property
    def owner(self) -> Team:
        """Return whose it is, as triage would say: of what is in the way, else of the consumer's queue."""
        return (self.cause and self.cause.owner) or owner_as_kept(self.group.consumer, self.group.owner)

    @property
    def recipients(self) -> list[str]:
        """Return whom it is for: who mends the cause, and who decides about the dead letters."""
        decides = owner_as_kept(self.group.consumer, self.group.owner)
        return list(dict.fromkeys((self.owner.email, decides.email)))

    @property
    def url(self) -> str:
        """Return where the group is shown; a path only without DESK_ORIGIN, the command without the pages."""
        if not apps.is_installed("baton_messaging.ui"):
            return f"python manage.py dead_letters list --group {self.group.fingerprint}"
        path = reverse("admin:baton_messaging_deadletter_list", query={"group": self.group.fingerprint})
        return f"{baton().desk_origin.rstrip('/')}{path}"


def _no_cause(_group: Group) -> Diagnosis | None:
    return None


def send_alerts(now: datetime | None = None, *, cause_of: CauseOf = _no_cause) -> int:
    """Alert the owners of the groups that are due; return how many alerts went out.

    ``cause_of`` is asked only about those: what the dead letters died of, as triage would say.
    """
    now = now or timezone.now()
    _forget_settled_groups()
    told = {row.fingerprint: row for row in GroupAlert.objects.all()}
    sent_count = 0
    for group in groups_of(DeadLetter.objects.open()):
        last = told.get(group.fingerprint)
        kind = _kind(group, last, now)
        sent_count += kind is not None and _send(kind, group, last, now, cause_of)
    return sent_count


def _forget_settled_groups() -> None:
    """Let a failure that comes back after it was dealt with be news."""
    alive = DeadLetter.objects.unsettled().filter(fingerprint=OuterRef("fingerprint"))
    GroupAlert.objects.filter(~Exists(alive)).delete()


def _kind(group: Group, last: GroupAlert | None, now: datetime) -> AlertKind | None:
    if last is None:
        return "new"
    if last.alerted_at > now - timedelta(seconds=baton().alert_period_seconds):
        return None
    if any(last.dead_letter_count < count <= group.open_count for count in baton().alert_growth_counts):
        return "growing"
    age = timedelta(seconds=baton().alert_age_seconds)
    is_told = last.aged_at is not None and last.aged_at > now - age
    return "old" if group.first_at <= now - age and not is_told else None


def _send(kind: AlertKind, group: Group, last: GroupAlert | None, now: datetime, cause_of: CauseOf) -> bool:
    try:
        with transaction.atomic():
            if not _claim(kind, group, last, now):
                return False
            _tell(Alert(kind, group, cause_of(group)))
    except Exception as error:  # the next tick tries again; the other groups must not wait for it
        log.warning("alert_not_sent", consumer=group.consumer, kind=kind, error_class=type(error).__name__)
        return False
    log.info("alert_sent", consumer=group.consumer, kind=kind, dead_letter_count=group.open_count)
    return True


def _claim(kind: AlertKind, group: Group, last: GroupAlert | None, now: datetime) -> bool:
    """Take the group's row; of two tellers at once one finds it changed."""
    said = {"alerted_at": now, "dead_letter_count": group.open_count} | ({"aged_at": now} if kind == "old" else {})
    if last is None:
        return GroupAlert.objects.get_or_create(fingerprint=group.fingerprint, defaults=said)[1]
    return GroupAlert.objects.filter(pk=last.pk, alerted_at=last.alerted_at).update(**said) == 1


def _tell(alert: Alert) -> None:
    """Send the signal. One receiver that fails is logged; when all do, no owner was told."""
    answers = dead_letters_alert.send_robust(sender=DeadLetter, alert=alert)
    failures = [answer for _receiver, answer in answers if isinstance(answer, Exception)]
    if failures and len(failures) == len(answers):
        raise failures[0]


@receiver(dead_letters_alert, dispatch_uid="baton_messaging.mail_alert")
def mail_alert(*, alert: Alert, **_kwargs: Any) -> None:
    """Send the mail, in the project's language."""
    with translation.override(settings.LANGUAGE_CODE):
        context = {"alert": alert, "group": alert.group}
        subject = render_to_string("baton_messaging/mail/alert_subject.txt", context)
        body = render_to_string("baton_messaging/mail/alert.txt", context)
    send_mail(" ".join(subject.split()), body, None, alert.recipients)
