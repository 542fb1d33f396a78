"""Check what a consumer depends on: for an app's ``health.py``.

    @health_check("carrier")
    def check_carrier(deadline: Deadline) -> Health:
        with urlopen(STATUS_URL, timeout=deadline.seconds_left):
            return Health("carrier", Condition.OK, server="api.carrier.example:443")

    @consumer(StockReserved, depends_on=["carrier"])

*Shapes*. A function that does with the server what the consumer does with it, as small as can be, and leaves nothing
behind. ``Health``: ``condition``, ``said`` (the server's own words where it does not do the work), ``server`` as
host:port without login, ``facts`` of JSON types. ``storage_health(name, storages["exports"])`` is the whole answer of
a storage. ``run_checks(names)`` runs several at the same time. ``without_secrets(text)`` replaces every secret of the
settings: for whatever a project shows or logs of a server's words.

*Units*. ``deadline.seconds_left`` is what to give to each time-out of a client.

*Returns*. ``health_check``: the function. A second one of the same name replaces the first.

*Raises*. What the function raises is classified (``classify``) and becomes its answer: let the client's errors rise.

*Hazard*. It runs in workers, relay and web, beside the work, every minute or so, in a thread that is left behind when
time is up: give each client a time-out, open what you use, and close it. Never send a mail, never charge a card.
"""

from baton_messaging.database.deadline import Deadline
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.redaction import without_secrets
from baton_messaging.health.refusals import Refusal, classify
from baton_messaging.health.registry import health_check
from baton_messaging.health.run import run_checks
from baton_messaging.health.storage import storage_health

__all__ = [
    "Condition",
    "Deadline",
    "Health",
    "Refusal",
    "classify",
    "health_check",
    "run_checks",
    "storage_health",
    "without_secrets",
]
