"""A worker of another release dead-letters what it has no task for: the message is as good as before.

Told of what died for that reason, or was rejected by a worker that left no other word, while such a worker runs.
"""

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.health.diagnosis import Confidence, Diagnosis, finding
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import first_few
from baton_messaging.models import Heartbeat
from baton_messaging.models.dead_letter import Reason
from baton_messaging.processes import wiring
from baton_messaging.routing.ownership import queue_name_of
from baton_messaging.routing.subscriptions import is_registered


def without_the_task(consumer: str, reason: str, error_class: str) -> Diagnosis | None:
    """Return the workers of the consumer's queue that run another release than this one. Raises database errors."""
    is_of_its_worker = reason == Reason.UNKNOWN_TASK or error_class == "Rejected"
    if not is_of_its_worker or not is_registered(consumer):
        return None
    queue, here = queue_name_of(consumer), wiring.release()
    workers = Heartbeat.objects.fresh().workers().filter(queues__contains=[queue]).order_by("name")
    others = [one for one in workers if one.wiring.get("release") not in (None, here)]
    if not others:
        return None
    names = {
        "workers": first_few(one.name for one in others),
        "release": others[0].wiring["release"].get("project", "?"),
        "here": here["project"],
        "consumer": consumer,
    }
    return finding(
        Resource(Kind.WIRING, names["workers"]),
        _("one release in all processes"),
        found=format_lazy(
            _("{workers} runs release {release}, this one is {here}: it may have no task {consumer}"), **names
        ),
        wanted=_("the same everywhere"),
        remedy=format_lazy(_("Replace {workers} by a worker of release {here}, then replay."), **names),
        confidence=Confidence.LIKELY,
        stops_work=True,
    )
