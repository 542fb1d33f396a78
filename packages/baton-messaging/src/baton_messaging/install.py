"""Installation gives a project's Celery application and settings all that they need of Baton.

    install(app)                                                   # config/celery.py
    CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=3)   # config/settings/celery.py, and so on

Celery's settings stay in the project, one by one: ``manage.py check`` names those that are missing
(docs/decisions/celerys-settings-stay-visible.md).

Invariant: imported while Django's settings are being read, so nothing here needs a setting, an app or a model before
it is called. Plain tasks, which are no consumers, find all as on stock Celery.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from celery import Celery
from celery.schedules import crontab
from celery.signals import celeryd_init, task_postrun, task_prerun, worker_process_init, worker_process_shutdown

from baton_messaging.broker import censoring, options, transports
from baton_messaging.broker.options import BrokerSettings
from baton_messaging.conf import BadSetting, Queue, checked_queues
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE, EXCHANGE, celery_queues, route_task

if TYPE_CHECKING:
    from baton_messaging.processes.web import BeatingApplication

__all__ = [
    "BrokerSettings",
    "beat_schedule",
    "broker_settings",
    "celery_queues",
    "install",
    "is_installed",
    "route_task",
    "with_heartbeat",
]

_HEARTBEAT_STEP: Final = "baton_messaging.processes.worker:HeartbeatStep"
#: Times that a child may use a connection before Celery's integration of Django closes it all the same.
_DB_REUSE_MAX: Final = 10_000


def install(app: Celery) -> None:
    """Put Baton's transports, heartbeat and database connections into an application. Repeating it is harmless."""
    transports.install()  # before any connection: redis:// now means a Redis with dead-lettering, limit and leases
    censoring.install()  # reports, remote control and Flower print no secret
    app.steps["worker"].add(_HEARTBEAT_STEP)  # each worker says that it lives, and what it holds
    # Celery closes the database connection before and after every task unless this key is on the app itself
    # (measured: 100 -> 261 tasks/s). What it counts is tasks per connection; stale ones are dropped by ConsumerTask.
    app.conf.setdefault("CELERY_DB_REUSE_MAX", _DB_REUSE_MAX)
    task_prerun.connect(_close_connections, dispatch_uid="baton_messaging.install.before")
    task_postrun.connect(_close_connections, dispatch_uid="baton_messaging.install.after")
    celeryd_init.connect(_introduce, dispatch_uid="baton_messaging.install")
    worker_process_init.connect(_introduce_child, dispatch_uid="baton_messaging.install.child")
    worker_process_init.connect(_start_tracing, dispatch_uid="baton_messaging.install")
    worker_process_shutdown.connect(_stop_tracing, dispatch_uid="baton_messaging.install")


def with_heartbeat(application: Callable[..., Any]) -> "BeatingApplication":
    """Let the web processes say that they live, and what they are wired to: around the WSGI application.

        application = with_heartbeat(get_wsgi_application())   # config/wsgi.py

    One row per process, from its first request on, or from ``application.begin()``: gunicorn's ``post_worker_init``.
    """
    from baton_messaging.processes.web import BeatingApplication  # noqa: PLC0415 - the settings are read only now

    return BeatingApplication(application)


def is_installed(app: Celery) -> bool:
    """Tell whether an application went through ``install``."""
    return _HEARTBEAT_STEP in app.steps["worker"]


def broker_settings(url: str, queues: Sequence[Queue], *, delivery_limit: int) -> BrokerSettings:
    """Return what Celery is told of the broker: URL, transport options, TLS.

    ``delivery_limit`` counts returns to the queue, as on RabbitMQ: 3 means four runs. Hazard: the URL goes into
    ``broker_read_url`` and ``broker_write_url``; to ``broker_url`` Celery prefers the variable CELERY_BROKER_URL.
    Raises BadSetting for what is no URL or no table; which broker it may be asks baton.E702.
    """
    if not isinstance(url, str) or "://" not in url:
        raise BadSetting("broker_settings(): expected a URL such as redis://localhost:6379/0, got none.")
    return options.broker_settings(
        url,
        exchange=EXCHANGE.name,
        queues=[*(queue.name for queue in checked_queues(queues)), DEAD_LETTER_QUEUE],
        dead_letter_queue=DEAD_LETTER_QUEUE,
        delivery_limit=delivery_limit,
    )


def beat_schedule() -> dict[str, dict[str, Any]]:
    """Return the entries of Baton's own tasks for ``beat_schedule``: ``{**beat_schedule(), …}``.

    Times of the clock, not intervals, so that restarts of beat skip nothing (F79). ``expires`` (seconds) is below the
    interval: after an outage one tick runs, not a flood of old ones (F78).
    """
    every_minute = crontab()
    return {
        "baton.prune": {"task": "baton.prune", "schedule": crontab(minute="*/10"), "options": {"expires": 300}},
        # An alert about a new kind of failure waits no longer than a minute.
        "baton.tend_dead_letters": {
            "task": "baton.tend_dead_letters",
            "schedule": every_minute,
            "options": {"expires": 50},
        },
        # An emptied broker costs the grace (RECONCILE_GRACE_SECONDS) and at most a minute.
        "baton.reconcile": {"task": "baton.reconcile", "schedule": every_minute, "options": {"expires": 50}},
        "baton.rollup": {"task": "baton.rollup", "schedule": every_minute, "options": {"expires": 50}},
    }


def _close_connections(task: Any, **_kwargs: Any) -> None:
    """Let a plain task begin and end without a database connection, as Celery does by itself (F25).

    A consumer asks nobody beforehand: it waits and runs again. Inside of another's process (``apply()``) the
    connection is the caller's.
    """
    from django.db import connections  # noqa: PLC0415 - Django's models are ready only now

    from baton_messaging.consumer import ConsumerTask  # noqa: PLC0415 - as above

    if not isinstance(task, ConsumerTask) and not task.request.is_eager and is_installed(task.app):
        connections.close_all()


def _introduce(*, sender: str, **_kwargs: Any) -> None:
    """Let the connections of a worker carry its node name."""
    from baton_messaging.processes.introduction import introduce  # noqa: PLC0415 - as above

    introduce("worker", sender)


def _introduce_child(**_kwargs: Any) -> None:
    from baton_messaging.processes.introduction import introduce_child  # noqa: PLC0415 - as above

    introduce_child()


def _start_tracing(**_kwargs: Any) -> None:
    """Trace in each child: what sends the traces does not survive a fork."""
    from baton_messaging.messages import tracing  # noqa: PLC0415 - as above

    tracing.start("worker")


def _stop_tracing(**_kwargs: Any) -> None:
    """Send what is left of the traces."""
    from baton_messaging.messages import tracing  # noqa: PLC0415 - as above

    tracing.stop()
