"""What stands in Celery's settings in place of what Baton needs: one function per question, "" when all is right.

Asked of the Celery application, for that is what a worker goes by, however the project configured it. What is returned
ends up on a terminal: it names keys and queues, and never repeats a URL or an option, which may hold a password.
"""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import kombu
from celery import Celery
from celery.app.routes import Router, prepare
from celery.utils.imports import symbol_by_name
from django.conf import settings
from kombu.compression import get_encoder
from kombu.serialization import prepare_accept_content

from baton_messaging.broker.options import AMQP_SCHEMES
from baton_messaging.broker.transports import ALIASES
from baton_messaging.conf import baton
from baton_messaging.install import beat_schedule, is_installed
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE, EXCHANGE

CONSUMER: Final = "baton_messaging.worker.consumer:Consumer"
POOL: Final = "baton_messaging.worker.pool:TaskPool"
SCHEDULER: Final = "baton_messaging.processes.scheduler:Scheduler"
#: The same for a project whose schedule is django-celery-beat's.
DATABASE_SCHEDULER: Final = "baton_messaging.processes.database_scheduler:DatabaseScheduler"
MIDDLEWARE: Final = "baton_messaging.middleware.correlate"
REQUEST_IDS: Final = "django_structlog.middlewares.RequestMiddleware"


def declared_queues(app: Celery) -> dict[str, kombu.Queue]:
    """Return what ``task_queues`` declares, by name."""
    return dict(app.amqp.Queues(app.conf.task_queues)) if app.conf.task_queues else {}


def lacks_install(app: Celery) -> str:
    """Ask for ``install(app)``."""
    return "" if is_installed(app) else f"no such call for the application {app.main or 'of Celery itself'}"


def foreign_broker(app: Celery) -> str:
    """Ask for a broker that keeps the promises."""
    scheme = _scheme(app)
    return "" if scheme.partition("+")[0] in ALIASES else f"{scheme}://"


def wrong_transport_options(app: Celery) -> str:
    """Ask for what the transports must be told; whether each queue is among it asks baton.E402."""
    options: dict[str, Any] = app.conf.broker_transport_options or {}
    if _scheme(app) in AMQP_SCHEMES:
        wrong = [] if options.get("confirm_publish") is True else ["confirm_publish"]
    else:
        wrong = [
            key
            for key, is_right in (
                ("exchange", options.get("exchange") == EXCHANGE.name),
                ("queues", bool(options.get("queues"))),
                ("dead_letter_queue", options.get("dead_letter_queue") == DEAD_LETTER_QUEUE),
                ("delivery_limit", isinstance(options.get("delivery_limit"), int)),
            )
            if not is_right
        ]
    return f"another or no {', '.join(wrong)}" if wrong else ""


def missing_queues(app: Celery) -> str:
    """Ask for the queues of the table."""
    missing = [*{*(queue.name for queue in baton().queues), DEAD_LETTER_QUEUE} - {*declared_queues(app)}]
    return f"none called {', '.join(sorted(missing))}" if missing else ""


def undeclared_default_queue(app: Celery) -> str:
    """Ask for the queue of plain tasks; where no queue is declared, baton.E704 speaks of it."""
    name = app.conf.task_default_queue
    if not app.conf.task_queues or name in declared_queues(app):
        return ""
    return f"{name!r}, which is not among them"


def stray_route(app: Celery) -> str:
    """Ask where Baton's own tasks go."""
    router = Router(prepare(app.conf.task_routes), app=app)
    wanted = baton().platform_queue
    for task in _own_tasks():
        route = router.lookup_route(task, (), {}, {}) or {}
        queue = getattr(route.get("queue"), "name", route.get("queue"))
        if queue != wanted:
            return f"{queue!r} as the queue of {task}"
    return ""


def missing_ticks(app: Celery) -> str:
    """Ask what beat sends, if its schedule stands in the settings and not in a database."""
    if not _is_a(app.conf.beat_scheduler, "celery.beat:PersistentScheduler"):
        return ""
    sent = {entry.get("task") for entry in (app.conf.beat_schedule or {}).values()}
    missing = sorted(_own_tasks() - sent)
    return f"nothing that sends {', '.join(missing)}" if missing else ""


def refuses_json(app: Celery) -> str:
    """Ask whether workers take JSON."""
    accepted = app.conf.accept_content or ()
    return "" if "application/json" in (prepare_accept_content(accepted) or ()) else _value(app, "accept_content")


def refused_compression(app: Celery) -> str:
    """Ask whether workers take what this project compresses."""
    name = app.conf.task_compression
    if not name:
        return ""
    try:
        known: Any = get_encoder(name)  # the encoder and its content type; the stubs have the encoder only
    except KeyError:
        return repr(name)
    content_type = known[1]
    options: dict[str, Any] = app.conf.broker_transport_options or {}
    return "" if content_type in options.get("accept_compression", ()) else repr(content_type)


def prefetches(app: Celery) -> str:
    """Ask whether a worker holds messages that it does not run."""
    count = app.conf.worker_prefetch_multiplier
    return "" if count == 1 or app.conf.worker_disable_prefetch else _value(app, "worker_prefetch_multiplier")


def sends_no_heartbeat(app: Celery) -> str:
    """Ask for a beat that says that it ticks."""
    return "" if app.conf.beat_scheduler == DATABASE_SCHEDULER else not_made_from("beat_scheduler", SCHEDULER)(app)


def long_loop_interval(app: Celery) -> str:
    """Ask whether a beat that sends heartbeats sends them often enough."""
    seconds = app.conf.beat_max_loop_interval
    is_watched = not sends_no_heartbeat(app)
    is_right = 0 < seconds < baton().heartbeat_stale_seconds
    return "" if is_right or not is_watched else _value(app, "beat_max_loop_interval")


def lacks_middleware(_app: Celery) -> str:
    """Ask for the correlation of web requests, behind the request ids that it takes over."""
    layers = list(settings.MIDDLEWARE)
    if MIDDLEWARE not in layers:
        return "none"
    is_in_front = REQUEST_IDS in layers and layers.index(MIDDLEWARE) < layers.index(REQUEST_IDS)
    return f"it in front of {REQUEST_IDS}, whose request id it takes" if is_in_front else ""


def wrong_time_limits(app: Celery) -> str:
    """Ask for a decision on the soft limit, and for one that can come first."""
    soft, hard = app.conf.task_soft_time_limit, app.conf.task_time_limit
    if soft and hard and soft >= hard:
        return f"{soft} s, and a hard one of {hard} s that never comes"
    return undecided("task_soft_time_limit")(app)


def unequal(name: str, wanted: object) -> Callable[[Celery], str]:
    """Make the question whether a setting has one value."""
    return lambda app: "" if app.conf[name] == wanted else _value(app, name)


def not_made_from(name: str, wanted: str) -> Callable[[Celery], str]:
    """Make the question whether a setting names a class or one made from it."""
    return lambda app: "" if _is_a(app.conf[name], wanted) else _value(app, name)


def undecided(name: str) -> Callable[[Celery], str]:
    """Make the question whether the project says anything about a setting."""
    return lambda app: "" if app.conf.value_set_for(name) else _value(app, name)


def _value(app: Celery, name: str) -> str:
    is_set = app.conf.value_set_for(name)
    return f"{app.conf[name]!r}" if is_set else f"nothing, which is {app.conf[name]!r} by Celery's default"


def _is_a(path: str, wanted: str) -> bool:
    """Tell whether a class is the wanted one or made from it."""
    try:
        return path == wanted or issubclass(symbol_by_name(path), symbol_by_name(wanted))
    except (ImportError, AttributeError, ValueError, TypeError):
        return False


def _scheme(app: Celery) -> str:
    return urlsplit(app.conf.broker_write_url or "amqp://").scheme


def _own_tasks() -> set[str]:
    return {str(entry["task"]) for entry in beat_schedule().values()}
