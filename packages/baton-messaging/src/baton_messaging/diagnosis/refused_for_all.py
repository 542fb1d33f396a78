"""A server that refuses every message says nothing of the single one, though each died as if it were at fault.

A mail server that relays for nobody answers 550 to each recipient, as it does to a wrong one. What tells the two apart
is the others: several messages died of the same words, and none was taken since by any consumer that needs the server.
"""

from typing import Final

from django.db.models import Count, Min
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.health.dependencies import checks_of
from baton_messaging.health.diagnosis import Confidence, Diagnosis, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.models import DeadLetter, ProcessedMessage
from baton_messaging.models.dead_letter import Reason, State
from baton_messaging.routing.subscriptions import all_consumers

#: Messages about different things that died alike: one may be wrong itself, two by chance hardly.
MIN_REFUSED: Final = 2


def refused_for_all(consumer: str, reason: str, error_class: str, error_message: str) -> Diagnosis | None:
    """Return the service that refuses all, None where it has taken something since. Raises the database's errors."""
    services = checks_of(consumer)
    if reason != Reason.PERMANENT_ERROR or not services:
        return None
    users = [one for one in all_consumers() if {*checks_of(one)} & {*services}]
    alike = DeadLetter.objects.filter(
        state=State.OPEN, reason=reason, consumer__in=users, error_class=error_class, error_message=error_message
    )
    refused = alike.aggregate(count=Count("key", distinct=True), since=Min("died_at"))
    if refused["count"] < MIN_REFUSED:
        return None
    if ProcessedMessage.objects.filter(consumer__in=users, processed_at__gt=refused["since"]).exists():
        return None
    names = {"server": services[0], "count": refused["count"], "error": error_message.partition("\n")[0]}
    return finding(
        Resource(Kind.SERVICE, services[0]),
        services[0],
        found=format_lazy(_("{server} refused {count} in a row, and took none since: {error}"), **names),
        wanted=_("a server that does what the work needs"),
        remedy=_(
            "It refuses everybody, so no single message is to blame: have those who run it give this system its right "
            "(to relay, to send, to write), then replay the group."
        ),
        command="python manage.py dead_letters groups",
        confidence=Confidence.LIKELY,
        since=refused["since"],
        stops_work=True,
    )
