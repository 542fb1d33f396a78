"""Messages examined: do they leave the outbox and their queues, are the dead attended to, do rows contradict them?"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from django.db.models import Count, Exists, F, Min, OuterRef
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from baton_messaging.conf import baton
from baton_messaging.dead_letters.operations.groups import groups_of
from baton_messaging.diagnosis.dead_letters import explained
from baton_messaging.diagnosis.doctor.examination import DATABASE, examines, or_well
from baton_messaging.diagnosis.installation import recent_causes
from baton_messaging.diagnosis.links import dead_letters_link, list_link
from baton_messaging.diagnosis.servers.policies import has_declared_length, letting_expire, limiting
from baton_messaging.health.diagnosis import Diagnosis, finding, observed
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import duration
from baton_messaging.models import Attempt, DeadLetter, OutboxMessage
from baton_messaging.models.dead_letter import EXPIRED_BY_POLICY, RELAY, State
from baton_messaging.recovery.findings import DAY, findings
from baton_messaging.relaying.bundles import QUEUE_FULL
from baton_messaging.routing.ownership import queue_name_of, team_named

#: Seconds. A relay that lives sends within one; after a crash its lease (30 s) must end first.
MAX_LAG_SECONDS: Final = 60.0
_MAX_COUNTED: Final = 10_000
#: Groups of dead letters whose cause is asked for, the newest: each costs a query or two.
MAX_EXPLAINED: Final = 10
#: What waits in the outbox, waits for the relay.
_RELAY: Final = Resource(Kind.ROLE, "relay")


@examines("outbox", needs=(DATABASE,), is_quick=True)
def examine_outbox() -> Iterator[Diagnosis]:
    """Find messages that wait too long, and those that the broker did not take."""
    waiting = OutboxMessage.objects.waiting()
    oldest = (
        waiting.filter(last_error="")
        .exclude(message_id__in=_put_back())
        .order_by("id")
        .annotate(age=Now() - F("occurred_at"))
        .first()
    )
    age_seconds = max(0.0, oldest.age.total_seconds()) if oldest else 0.0  # type: ignore[attr-defined]
    yield observed(
        age_seconds <= MAX_LAG_SECONDS,
        _("lag of the outbox"),
        about=_RELAY,
        found=format_lazy(_("the oldest waits for {age}"), age=duration(age_seconds)) if oldest else _("nothing waits"),
        wanted=format_lazy(_("at most {age}"), age=duration(MAX_LAG_SECONDS)),
        remedy=_("Look at relay and broker; the relay's log says why while it cannot send."),
        link=list_link("outboxmessage", published_at__isempty=1),
    )
    refused = waiting.exclude(last_error="").order_by("id")
    count = refused[:_MAX_COUNTED].count()
    first = refused.first() if count else None
    yield observed(
        not count,
        _("messages that the broker refused"),
        about=_RELAY,
        found=format_lazy(
            ngettext_lazy(
                "{count} message, {event}: {error}",
                "{count} messages, the oldest {event}: {error}",
                "count",
            ),
            count=count,
            event=first.name,
            error=first.last_error,
        )
        if first
        else _("none"),
        wanted=_("none"),
        remedy=_("Do what the error says; each is tried again by itself."),
        link=list_link("outboxmessage", published_at__isempty=1),
    )


def _put_back() -> Any:
    """Return what a replay has put back into the outbox: old messages, which leave at the pace of the replay."""
    dead_letters = DeadLetter.objects.filter(state=State.REQUESTED, consumer=RELAY, message_id__isnull=False)
    return dead_letters.values("message_id")


@examines("messages in their queues", needs=(DATABASE,))
def examine_queued() -> Iterator[Diagnosis]:
    """Find messages that were sent long ago and are neither done, nor retried, nor dead: their queue stands or lags."""
    age_seconds = baton().queue_age_seconds
    same = {"message_id": OuterRef("message_id")}
    queued = OutboxMessage.objects.filter(
        ~Exists(Attempt.objects.filter(**same, sent_at=None)),
        ~Exists(DeadLetter.objects.unsettled().filter(**same)),
        settled_at=None,
        published_at__lt=Now() - timedelta(seconds=age_seconds),
    )
    oldest = queued.order_by("published_at").annotate(age=Now() - F("published_at")).first()
    found = format_lazy(
        ngettext_lazy(
            "{count} message, {event} of {key}, sent {age} ago",
            "{count} messages, the oldest {event} of {key}, sent {age} ago",
            "count",
        ),
        count=queued[:_MAX_COUNTED].count() if oldest else 0,
        event=oldest.name if oldest else "",
        key=oldest.key if oldest else "",
        age=duration(oldest.age.total_seconds()) if oldest else "",  # type: ignore[attr-defined]
    )
    yield observed(
        oldest is None,
        _("messages in their queues"),
        about=Resource(Kind.QUEUE, "any"),
        found=found if oldest else _("none that is old"),
        wanted=format_lazy(_("none that was sent more than {age} ago and is not settled"), age=duration(age_seconds)),
        remedy=_("See whose they are; give their queue more workers, or find out why these are slow."),
        command="python manage.py triage --stuck",
    )


@examines("policies of the broker", needs=(DATABASE,), is_quick=True)
def examine_policies() -> Iterator[Diagnosis]:
    """Find what policies of RabbitMQ have done: what expired before its time, and queues that are full undeclared."""
    expired = DeadLetter.objects.open().filter(error_class=EXPIRED_BY_POLICY).values_list("consumer", flat=True)
    if queues := {queue_name_of(consumer) for consumer in expired.distinct()}:
        yield letting_expire(queues)
    refused = (
        OutboxMessage.objects.waiting().filter(last_error__contains=QUEUE_FULL).values_list("last_error", flat=True)
    )
    consumers = {
        part.partition(":")[0] for text in refused[:_MAX_COUNTED] for part in text.split("; ") if QUEUE_FULL in part
    }
    full = {queue_name_of(consumer) for consumer in consumers}
    if limited := {queue for queue in full if not has_declared_length(queue)}:
        yield limiting(limited)


@examines("dead letters", needs=(DATABASE,), is_quick=True)
def examine_dead_letters() -> list[Diagnosis]:
    """Name owners with open dead letters older than ALERT_AGE_SECONDS."""
    age_seconds = baton().alert_age_seconds
    old = DeadLetter.objects.open().filter(died_at__lt=Now() - timedelta(seconds=age_seconds))
    owners: Any = old.values("owner").annotate(dead_letter_count=Count("pk"), oldest=Min("died_at"))
    wanted = format_lazy(_("none open for longer than {age}"), age=duration(age_seconds))
    unattended = [_unattended(row, wanted) for row in owners.order_by("owner")]
    count = 0 if unattended else DeadLetter.objects.open().count()
    found = format_lazy(_("{count} open, none of them old"), count=count) if count else _("none")
    return or_well([*unattended, *_what_they_died_of()], _("dead letters"), found=found, wanted=wanted)


def _what_they_died_of() -> list[Diagnosis]:
    """Return what open dead letters died of that no single message is to blame for, unless others tell of it, too."""
    told = {one.about for one in recent_causes()}
    dead = DeadLetter.objects.open().exclude(error_class=EXPIRED_BY_POLICY)  # of which examine_policies() tells
    groups = explained(groups_of(dead, limit=MAX_EXPLAINED))
    causes = {one.cause.about: one.cause for one in groups if one.cause and one.cause.about not in told}
    return list(causes.values())


def _unattended(row: dict[str, Any], wanted: Any) -> Diagnosis:
    return finding(
        Resource(Kind.DATA, f"dead letters of {row['owner']}"),
        _("dead letters"),
        found=format_lazy(
            ngettext_lazy(
                "{count} dead letter without a decision for {age}",
                "{count} dead letters without a decision, the oldest for {age}",
                "count",
            ),
            count=row["dead_letter_count"],
            age=duration((timezone.now() - row["oldest"]).total_seconds()),
        ),
        wanted=wanted,
        remedy=_("Read them, mend the cause, then replay or discard them."),
        command="python manage.py dead_letters groups",
        link=dead_letters_link(state="open", owner=row["owner"]),
        owner=team_named(row["owner"]),
        since=row["oldest"],
    )


@examines("rows and their messages", needs=(DATABASE,))
def examine_rows() -> list[Diagnosis]:
    """Run the checks that apps have registered: what must not be, though every message counts as done."""
    what, wanted = _("rows and their messages"), _("none that contradict each other")
    return or_well(findings(looked_at_for=DAY), what, found=_("no contradiction"), wanted=wanted)
