"""Extension points: all that an app may add to Baton, and what its code may ask while it works.

An app adds something by a module of a given name at its top. It is imported when a process asks for what it adds, and
not before; no line in ``AppConfig.ready()`` is needed. Each has a module of that name here to import from:

| To add | write in your app | with | from ``baton_messaging.`` |
|---|---|---|---|
| a consumer | ``tasks.py`` | ``@consumer(OrderPlaced)`` | ``consumer`` |
| a scheduled task | ``tasks.py`` | ``@scheduled_task("orders.expire", …)`` | ``scheduled`` |
| what an id means to triage | ``triage.py`` | ``register(SubjectKind(…))`` | ``extend.triage`` |
| a question of ``manage.py doctor`` | ``doctor.py`` | ``@examines("storage")``, ``observed`` | ``extend.doctor`` |
| a contradiction for the reconciler to report | ``findings.py`` | ``@finds`` | ``extend.findings`` |
| a check of what consumers depend on | ``health.py`` | ``@health_check("carrier")`` | ``extend.health`` |
| figures at ``/metrics`` | ``metrics.py`` | ``contribute("exports", …)`` | ``extend.metrics`` |

Receivers of signals (``baton_messaging.signals``) are connected in ``AppConfig.ready()``, as with any Django signal.

What this module itself holds is for code that already runs: whose is it, how far did it get, what ended me? It imports
nothing that a worker does not have anyway; what only doctor, triage or ``/metrics`` need stays in the modules above.
Import it when Django's models are ready: from ``tasks``, ``services``, ``views``, not from ``settings``.
"""

from baton_messaging.conf import Team
from baton_messaging.consuming.shutdown import is_time_up
from baton_messaging.database.errors import is_database_away
from baton_messaging.diagnosis.progress import SETTLED as SETTLED_STATES
from baton_messaging.diagnosis.progress import STATE_TEXTS as PROGRESS_TEXTS
from baton_messaging.diagnosis.progress import ConsumerProgress, progress_of
from baton_messaging.diagnosis.progress import State as ProgressState
from baton_messaging.messages.context import correlation, current_correlation_id
from baton_messaging.routing.ownership import owner_of
from baton_messaging.routing.queues import queue_named

__all__ = [
    "PROGRESS_TEXTS",
    "SETTLED_STATES",
    "ConsumerProgress",
    "ProgressState",
    "correlation",
    "current_correlation_id",
    "is_database_away",
    "is_time_up",
    "owner_of",
    "owner_of_queue",
    "progress_of",
]


def owner_of_queue(name: str) -> Team:
    """Return the team that owns a queue of the project's table. ``str()`` of it is "Name <address>".

    Raises UnknownQueue (a LookupError) for a name that the table does not have. For a consumer ask ``owner_of``, which
    follows the consumer to its lane and answers with the platform's team when no queue is its own.
    """
    return queue_named(name).owner
