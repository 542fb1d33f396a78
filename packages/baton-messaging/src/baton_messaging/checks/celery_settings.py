"""Celery's settings: each that is missing or contradicts a promise, with the line to add.

Three kinds of rows. *E70x* breaks a promise: a consumer's message is lost, or Baton's own tasks do not run. *W71x*
makes a promise slower, or a process unseen. *W72x* is about plain tasks only, since consumers bring their own value: a
project may well want what Celery does by itself, so any value that it writes down ends the finding.

No rows have what a project may hold either way: ``result_serializer`` and ``result_expires`` (a consumer has no
result), ``timezone``, content types beside JSON.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from celery import Celery, current_app
from django.core.checks import CheckMessage

from baton_messaging.checks import celery_values as values
from baton_messaging.checks.celery_values import CONSUMER, DATABASE_SCHEDULER, MIDDLEWARE, POOL, SCHEDULER
from baton_messaging.checks.objections import objection
from baton_messaging.conf import baton


@dataclass(frozen=True)
class Requirement:
    """One setting, and how it must be."""

    check_id: str
    setting: str  # as it is written in the settings
    wanted: str
    why: str
    line: str  # to add to the settings; in {} keys of BATON
    problem: Callable[[Celery], str]  # what is there instead, "" when it is right


def check_celery_settings(**_kwargs: Any) -> list[CheckMessage]:
    """Find settings of Celery that are missing or contradict a promise."""
    return objections_to(current_app)


def objections_to(app: Celery) -> list[CheckMessage]:
    """Return what is wrong with an application's settings."""
    found = ((one, one.problem(app)) for one in REQUIREMENTS)
    return [
        objection(
            one.check_id,
            f"{one.setting}: expected {one.wanted}, got {problem}. {one.why}",
            hint=f"Add: {one.line.format(**vars(baton()))}",
        )
        for one, problem in found
        if problem
    ]


def _for_plain_tasks(check_id: str, name: str, value: str, why: str) -> Requirement:
    setting = f"CELERY_{name.upper()}"
    line = f"{setting} = {value}  # or another value: it is about plain tasks only, and they are yours"
    return Requirement(check_id, setting, f"a decision, such as {value}", why, line, values.undecided(name))


# fmt: off
REQUIREMENTS: Final = (
    Requirement(
        "E701", "install(app)", "the call where the Celery application is made, and that imported with the settings",
        "Celery's own transports drop a rejected message, and no worker sends a heartbeat.",
        "install(app)  # from baton_messaging.install import install", values.lacks_install,
    ),
    Requirement(
        "E702", "CELERY_BROKER_URL", "redis://, rediss://, sentinel://, amqp:// or amqps://",
        "Other brokers do not keep the promises.",
        'CELERY_BROKER_URL = "redis://localhost:6379/0"', values.foreign_broker,
    ),
    Requirement(
        "E703", "CELERY_BROKER_TRANSPORT_OPTIONS", "what broker_settings() says of this broker",
        "Without it RabbitMQ confirms nothing that is published, and Redis loses what is rejected.",
        "CELERY_BROKER_TRANSPORT_OPTIONS = "
        "broker_settings(CELERY_BROKER_URL, QUEUES, delivery_limit=3).transport_options",
        values.wrong_transport_options,
    ),
    Requirement(
        "E704", "CELERY_TASK_QUEUES", "all of BATON['QUEUES'] and the dead-letter queue",
        "A message for a queue that is not declared cannot be sent.",
        "CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=3)", values.missing_queues,
    ),
    Requirement(
        "E705", "CELERY_TASK_DEFAULT_QUEUE", "one of CELERY_TASK_QUEUES",
        "Plain tasks cannot be sent. If they have a queue, add that to CELERY_TASK_QUEUES instead: kombu.Queue(…).",
        'CELERY_TASK_DEFAULT_QUEUE = "{platform_queue}"', values.undeclared_default_queue,
    ),
    Requirement(
        "E706", "CELERY_TASK_ROUTES", "route_task to send Baton's own tasks to the platform's queue",
        "Where no worker runs them nothing is reconciled or pruned, and no alert is mailed.",
        "CELERY_TASK_ROUTES = (route_task,)  # and your own routes", values.stray_route,
    ),
    Requirement(
        "E707", "CELERY_WORKER_CONSUMER", CONSUMER,
        "Celery's own loses what it cannot decode, and runs the dead letters.",
        f'CELERY_WORKER_CONSUMER = "{CONSUMER}"', values.not_made_from("worker_consumer", CONSUMER),
    ),
    Requirement(
        "E708", "CELERY_TASK_SERIALIZER", "'json'",
        "Collector, triage and desk read nothing else.",
        'CELERY_TASK_SERIALIZER = "json"', values.unequal("task_serializer", "json"),
    ),
    Requirement(
        "E709", "CELERY_ACCEPT_CONTENT", "'json' among them",
        "Workers dead-letter every message of a consumer.",
        'CELERY_ACCEPT_CONTENT = ["json"]', values.refuses_json,
    ),
    Requirement(
        "E710", "CELERY_BEAT_SCHEDULE", "all of beat_schedule()",
        "These ticks send again what a broker has lost, alert about dead letters, prune and count.",
        "CELERY_BEAT_SCHEDULE = {{**beat_schedule()}}  # and your own entries", values.missing_ticks,
    ),
    Requirement(
        "E717", "CELERY_TASK_COMPRESSION", "None, or a type that the transport option accept_compression names",
        "Workers dead-letter what is compressed: half a megabyte may unpack to 500.",
        'CELERY_TASK_COMPRESSION = None  # or let broker_settings()\'s options have accept_compression: '
        '("application/x-gzip",)', values.refused_compression,
    ),
    Requirement(
        "W711", "CELERY_WORKER_POOL", POOL,
        "Celery's own takes up to 5 s to notice a killed child, and its message is held until then (celery#9588).",
        f'CELERY_WORKER_POOL = "{POOL}"', values.not_made_from("worker_pool", POOL),
    ),
    Requirement(
        "W712", "CELERY_WORKER_PREFETCH_MULTIPLIER", "1",
        "What waits behind a long message counts as delivered when its worker dies, though it never ran (F50).",
        "CELERY_WORKER_PREFETCH_MULTIPLIER = 1", values.prefetches,
    ),
    Requirement(
        "W713", "CELERY_TASK_CREATE_MISSING_QUEUES", "a decision, such as False",
        "A typo in a plain task's queue makes a queue without worker, owner or dead-letter route otherwise (F51).",
        "CELERY_TASK_CREATE_MISSING_QUEUES = False  # True, if plain tasks have queues that no table names",
        values.undecided("task_create_missing_queues"),
    ),
    Requirement(
        "W714", "CELERY_BEAT_SCHEDULER", SCHEDULER,
        "Another sends no heartbeat: doctor and triage take beat for dead.",
        f'CELERY_BEAT_SCHEDULER = "{SCHEDULER}"  # with django-celery-beat: "{DATABASE_SCHEDULER}"',
        values.sends_no_heartbeat,
    ),
    Requirement(
        "W715", "CELERY_BEAT_MAX_LOOP_INTERVAL", "more than 0 and less than HEARTBEAT_STALE_SECONDS",
        "Beat's heartbeat is a tick: between two that are further apart it looks dead.",
        "CELERY_BEAT_MAX_LOOP_INTERVAL = {heartbeat_seconds:g}", values.long_loop_interval,
    ),
    Requirement(
        "W716", "MIDDLEWARE", MIDDLEWARE,
        "Messages do not carry the id of the request that they come from.",
        f'MIDDLEWARE = ["{MIDDLEWARE}", *MIDDLEWARE]  # with django-structlog: right behind its RequestMiddleware',
        values.lacks_middleware,
    ),
    _for_plain_tasks("W721", "task_acks_late", "True", "What a killed worker was running is lost otherwise."),
    _for_plain_tasks("W722", "task_reject_on_worker_lost", "True", "A killed child counts as done otherwise."),
    _for_plain_tasks("W723", "task_acks_on_failure", "False", "A failure is in no list of dead letters otherwise."),
    _for_plain_tasks("W724", "task_acks_on_timeout", "False", "Nor is what hit its hard limit."),
    _for_plain_tasks("W725", "task_time_limit", "270", "In seconds. What hangs keeps its child for ever otherwise."),
    Requirement(
        "W726", "CELERY_TASK_SOFT_TIME_LIMIT", "a decision, such as 240, below the hard limit",
        "In seconds. A plain task cannot clean up before it is killed otherwise.",
        "CELERY_TASK_SOFT_TIME_LIMIT = 240  # or another value, None too: it is about plain tasks only",
        values.wrong_time_limits,
    ),
)
# fmt: on
