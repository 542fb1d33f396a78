"""Celery's settings that Baton needs, each as the line that goes well with what the project has.

A setting that is missing is asked for by the check that would object to it (checks/celery_settings.py): one list says
what is wanted. Plain tasks keep what they had: their default queue is declared as Celery would have made it, their
routes stand first, and what they are not told keeps Celery's default, written down.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from celery import Celery
from celery.app.routes import Router, prepare
from django.conf import settings

from baton_messaging.checks.celery_settings import REQUIREMENTS, Requirement
from baton_messaging.checks.celery_values import CONSUMER, DATABASE_SCHEDULER, POOL, SCHEDULER
from baton_messaging.conf import BadSetting
from baton_messaging.install import beat_schedule

DELIVERY_LIMIT: Final = 3
_DJANGO_CELERY_BEAT: Final = "django_celery_beat.schedulers:DatabaseScheduler"
_DEFAULT_URL: Final = "redis://127.0.0.1:6379/0"


@dataclass(frozen=True)
class Line:
    """One setting: what it should be, given the name of what it is now ("" where it is nothing)."""

    key: str  # as Celery calls it
    check: str  # whose objection it ends; "" for what no check asks for
    value: Callable[["Context"], str]
    comment: str = ""


@dataclass(frozen=True)
class Context:
    """The module in which the lines will stand."""

    app: Celery
    prefix: str
    bound: dict[str, Any]  # what that module has at its end
    literals: frozenset[str] = frozenset()  # names that are a text written out there

    def name(self, key: str) -> str:
        """Return how a setting is written."""
        return f"{self.prefix}{key.upper()}"

    def has(self, key: str) -> bool:
        """Tell whether the module has a setting, and it is not empty."""
        return bool(self.bound.get(self.name(key)))


def _url(context: Context) -> str:
    name = context.name("broker_url")
    if not context.has("broker_url"):
        return f'os.environ.get("CELERY_BROKER_URL", "{_DEFAULT_URL}")'
    return f'os.environ.get("CELERY_BROKER_URL") or {name}' if name in context.literals else name


def _options(context: Context) -> str:
    name = context.name("broker_transport_options")
    return f"{{**{name}, **_broker.transport_options}}" if name in context.bound else "_broker.transport_options"


def _queues(context: Context) -> str:
    name, ours = context.name("task_queues"), f"*celery_queues(QUEUES, delivery_limit={DELIVERY_LIMIT})"
    if context.has("task_queues"):
        there = context.bound[name]
        return f"[*{name}.values(), {ours}]" if isinstance(there, dict) else f"[*{name}, {ours}]"
    default = context.name("task_default_queue")
    queue = default if context.has("task_default_queue") else f'"{context.app.conf.task_default_queue}"'
    return f"[kombu.Queue({queue}), {ours}]"


def _routes(context: Context) -> str:
    name = context.name("task_routes")
    if not context.has("task_routes"):
        return "(route_task,)"
    theirs = f"*{name}" if isinstance(context.bound[name], list | tuple) else name
    catches_all = Router(prepare(context.bound[name]), app=context.app).lookup_route("baton.prune", (), {}, {})
    return f"(route_task, {theirs})" if catches_all else f"({theirs}, route_task)"


def _schedule(context: Context) -> str:
    name = context.name("beat_schedule")
    return f"{{**{name}, **beat_schedule()}}" if context.has("beat_schedule") else "{**beat_schedule()}"


def _scheduler(context: Context) -> str:
    is_in_database = context.app.conf.beat_scheduler in (_DJANGO_CELERY_BEAT, "django")
    return f'"{DATABASE_SCHEDULER if is_in_database else SCHEDULER}"'


def _fixed(value: str) -> Callable[[Context], str]:
    return lambda _context: value


_OPTIONS: Final = Line("broker_transport_options", "E703", _options)
# fmt: off
_BROKER: Final = (
    Line("broker_read_url", "", _fixed("_broker.url")),
    Line("broker_write_url", "", _fixed("_broker.url")),
    _OPTIONS,
    Line("broker_use_ssl", "", _fixed("_broker.use_ssl")),
    Line("broker_connection_retry_on_startup", "", _fixed("True")),
    Line("broker_connection_max_retries", "", _fixed("None"), "however long the broker is away"),
    Line("broker_channel_error_retry", "", _fixed("True")),
)
_REST: Final = (
    Line("task_queues", "E704", _queues),
    Line("task_routes", "E706", _routes, "plain tasks go where they went"),
    Line("task_create_missing_queues", "W713", _fixed("True"), "as before; False: a typo in a name fails at once"),
    Line("worker_consumer", "E707", _fixed(f'"{CONSUMER}"')),
    Line("worker_pool", "W711", _fixed(f'"{POOL}"')),
    Line("worker_prefetch_multiplier", "W712", _fixed("1")),
    Line("beat_scheduler", "W714", _scheduler),
    Line("beat_max_loop_interval", "W715", _fixed("5")),
    Line("beat_schedule", "E710", _schedule),
)
#: What Celery does by itself, for plain tasks: a consumer has its own.
_OF_PLAIN_TASKS: Final = (
    Line("task_acks_late", "W721", _fixed("False")),
    Line("task_reject_on_worker_lost", "W722", _fixed("False")),
    Line("task_acks_on_failure", "W723", _fixed("True")),
    Line("task_acks_on_timeout", "W724", _fixed("True")),
    Line("task_time_limit", "W725", _fixed("None")),
    Line("task_soft_time_limit", "W726", _fixed("None")),
)
# fmt: on
#: What may be changed where the project has a value of its own: it is made from that value.
_COMBINED: Final = {"task_queues", "task_routes", "beat_schedule", "beat_scheduler", "broker_transport_options"}
#: What is made from a value of the project's: another value later on would leave it behind.
MADE_FROM: Final = _COMBINED - {"beat_scheduler"}
#: What a project that serves other things may not want; said by the check, and left to people.
_NEVER_PLACED: Final = ("E702", "E705", "E708", "E709", "E717")


def missing_keys(app: Celery) -> list[str]:
    """Return which of the settings the application lacks."""
    objected = {one.check_id for one in REQUIREMENTS if problem_of(one, app)}
    missing = [line.key for line in (_OPTIONS, *_REST, *_OF_PLAIN_TASKS) if line.check in objected]
    if "beat_scheduler" in missing and not app.conf.value_set_for("beat_max_loop_interval"):
        missing.append("beat_max_loop_interval")  # its check asks only once the scheduler is ours
    sent = {entry.get("task") for entry in (app.conf.beat_schedule or {}).values()}
    if "beat_schedule" not in missing and not {entry["task"] for entry in beat_schedule().values()} <= sent:
        missing.append("beat_schedule")  # no check asks for it where the schedule is in a database
    return missing


def left_to_people(app: Celery) -> Iterator[tuple[str, str, str]]:
    """Find what contradicts a promise and is not ours to change: setting, what is wrong, the line."""
    for one in REQUIREMENTS:
        if one.check_id in _NEVER_PLACED and (problem := problem_of(one, app)):
            yield (
                one.setting,
                f"expected {one.wanted}, got {problem}. {one.why}",
                one.line.format(platform_queue="baton"),
            )


def objection_to(app: Celery, key: str) -> tuple[str, str, str]:
    """Return what the check says of a setting that has a value of the project's: setting, what is wrong, the line."""
    check = next(line.check for line in (_OPTIONS, *_REST, *_OF_PLAIN_TASKS) if line.key == key)
    one = next(one for one in REQUIREMENTS if one.check_id == check)
    line = one.line.format(heartbeat_seconds=5, platform_queue="baton")
    return one.setting, f"expected {one.wanted}, got {problem_of(one, app)}. {one.why}", line


def problem_of(requirement: Requirement, app: Celery) -> str:
    """Return what a check says; where BATON is not set yet, all that would ask for it is missing."""
    try:
        return requirement.problem(app)
    except BadSetting:
        return "none"


def is_placeable(app: Celery, key: str) -> bool:
    """Tell whether a setting can be written without overruling one of the project's."""
    if key == "beat_scheduler" and app.conf.value_set_for(key):
        return app.conf.beat_scheduler in (_DJANGO_CELERY_BEAT, "django")
    return key in _COMBINED or not app.conf.value_set_for(key)


def block(context: Context, keys: list[str]) -> str:
    """Return the statements for the settings that are missing."""
    lines: list[str] = []
    if "broker_transport_options" in keys:
        lines.append(f"_broker = broker_settings({_url(context)}, QUEUES, delivery_limit={DELIVERY_LIMIT})")
        lines += [
            _statement(context, line)
            for line in _BROKER
            if line.key in ("broker_read_url", "broker_write_url", *_COMBINED) or not context.has(line.key)
        ]
    lines += [_statement(context, line) for line in _REST if line.key in keys]
    plain = [_statement(context, line) for line in _OF_PLAIN_TASKS if line.key in keys]
    if plain:
        lines += ["# For plain tasks; a consumer has its own. These are what Celery does by itself.", *plain]
    return "".join(f"{line}\n" for line in lines)


def lines_made_from(name: str, prefix: str) -> str:
    """Return the lines to repeat in a module that gives a setting a new value, after those of the block."""
    values = {
        f"{prefix}TASK_QUEUES": f"[*{name}, *celery_queues(QUEUES, delivery_limit={DELIVERY_LIMIT})]",
        f"{prefix}TASK_ROUTES": f"({name}, route_task)",
        f"{prefix}BEAT_SCHEDULE": f"{{**{name}, **beat_schedule()}}",
        f"{prefix}BROKER_TRANSPORT_OPTIONS": f"{{**{name}, **_broker.transport_options}}",
    }
    broker = f"_broker = broker_settings({prefix}BROKER_URL, QUEUES, delivery_limit={DELIVERY_LIMIT})"
    if name in values:
        head = f"{broker}\n" if name.endswith("OPTIONS") else ""
        return f"{head}{name} = {values[name]}"
    urls = "".join(f"{prefix}BROKER_{way}_URL = _broker.url\n" for way in ("READ", "WRITE"))
    return f"{broker}\n{urls}{prefix}BROKER_TRANSPORT_OPTIONS = _broker.transport_options"


def is_declared() -> bool:
    """Tell whether the project has its table of queues."""
    return isinstance(getattr(settings, "BATON", None), dict) and "QUEUES" in settings.BATON


def _statement(context: Context, line: Line) -> str:
    comment = f"  # {line.comment}" if line.comment else ""
    return f"{context.name(line.key)} = {line.value(context)}{comment}"
