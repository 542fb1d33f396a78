"""The plan of a replay tells what it would do before anything is done: the dry run.

Every dead letter falls into exactly one fate. The inbox decides: a message that it has is applied already, whatever the
list says. It can only be asked about what it still remembers: a message that is older than the inbox's retention was
when it died may have been applied and forgotten.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from django.db.models import Case, Count, F, Q, TextChoices, Value, When
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from baton_messaging.conf import baton
from baton_messaging.dead_letters.operations.reverify import reverify
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.events import known_names
from baton_messaging.models.dead_letter import RELAY, SETTLED, DeadLetterQuerySet, Reason, State, inbox_row
from baton_messaging.routing.subscriptions import all_consumers


class Fate(TextChoices):
    """What a replay does to a dead letter."""

    APPLIES = "applies", _("would be applied")
    IS_APPLIED = "is_applied", _("already applied")
    MAY_REPEAT = "may_repeat", _("may repeat")
    REQUESTED = "requested", _("already requested")
    SETTLED = "settled", _("settled")
    UNREADABLE = "unreadable", _("cannot be read")
    NO_CONSUMER = "no_consumer", _("no such consumer")


@dataclass(frozen=True)
class Plan:
    """How many dead letters meet which fate."""

    counts: dict[Fate, int]

    def count(self, fate: Fate) -> int:
        """Return how many dead letters meet it."""
        return self.counts.get(fate, 0)

    @property
    def dead_letter_count(self) -> int:
        """Return how many dead letters the selection has."""
        return sum(self.counts.values())

    @property
    def replayed_count(self) -> int:
        """Return how many a replay takes up, without those that may repeat."""
        return self.count(Fate.APPLIES) + self.count(Fate.IS_APPLIED)

    def as_dict(self) -> dict[str, int]:
        """Return every fate with its count."""
        return {fate.value: self.count(fate) for fate in Fate}

    def sentences(self) -> Iterator[tuple[Fate, str]]:
        """Say it in words: "3 would be applied", …"""
        for fate in Fate:
            if count := self.count(fate):
                yield fate, _sentence(fate, count)


def dry_run(selection: Selection) -> Plan:
    """Tell what a replay of a selection would do. What can be read by now, is read."""
    reverify(selection.dead_letters())
    return plan(selection.dead_letters())


def plan(dead_letters: DeadLetterQuerySet) -> Plan:
    """Count the fates, in one query."""
    counted = dead_letters.annotate(fate=_fate()).order_by().values_list("fate").annotate(count=Count("pk"))
    return Plan({Fate(fate): count for fate, count in counted})


def with_fate(dead_letters: DeadLetterQuerySet, *fates: Fate) -> DeadLetterQuerySet:
    """Return the dead letters that meet one of the fates."""
    found: Any = dead_letters.annotate(fate=_fate())
    return cast("DeadLetterQuerySet", found.filter(fate__in=fates))


def _fate() -> Case:
    remembered = timedelta(days=baton().inbox_retention_days)
    forgotten = (
        Q(occurred_at__isnull=True) | Q(occurred_at__lt=F("first_failed_at") - remembered) | Q(reason=Reason.TOO_OLD)
    )
    relayed = Q(consumer=RELAY, event_name__in=known_names())
    return Case(
        When(state__in=SETTLED, then=Value(Fate.SETTLED)),
        When(state=State.REQUESTED, then=Value(Fate.REQUESTED)),
        When(envelope__isnull=True, then=Value(Fate.UNREADABLE)),
        When(inbox_row(), then=Value(Fate.IS_APPLIED)),
        When(~Q(consumer__in=all_consumers()) & ~relayed, then=Value(Fate.NO_CONSUMER)),
        When(forgotten, then=Value(Fate.MAY_REPEAT)),
        default=Value(Fate.APPLIES),
    )


def _sentence(fate: Fate, count: int) -> str:
    match fate:
        case Fate.APPLIES:
            text = ngettext("%(count)d would be applied.", "%(count)d would be applied.", count)
        case Fate.IS_APPLIED:
            text = ngettext(
                "%(count)d was already applied and is a no-op.",
                "%(count)d were already applied and are no-ops.",
                count,
            )
        case Fate.MAY_REPEAT:
            text = ngettext(
                "%(count)d has no inbox record any more: it may repeat.",
                "%(count)d have no inbox record any more: they may repeat.",
                count,
            )
        case Fate.REQUESTED:
            text = ngettext(
                "%(count)d is on its way already and stays as it is.",
                "%(count)d are on their way already and stay as they are.",
                count,
            )
        case Fate.SETTLED:
            text = ngettext(
                "%(count)d is settled and stays as it is.", "%(count)d are settled and stay as they are.", count
            )
        case Fate.UNREADABLE:
            text = ngettext(
                "%(count)d is no message of ours and cannot be replayed.",
                "%(count)d are no messages of ours and cannot be replayed.",
                count,
            )
        case Fate.NO_CONSUMER:
            text = ngettext(
                "%(count)d is for a consumer that this release does not have: deploy it, or redirect.",
                "%(count)d are for a consumer that this release does not have: deploy it, or redirect.",
                count,
            )
    return text % {"count": count}
