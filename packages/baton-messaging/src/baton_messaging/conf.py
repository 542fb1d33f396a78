"""The setting ``BATON`` configures the package. ``BATON = {"QUEUES": QUEUES}`` is all that is needed.

Every other key has its default here, with its unit and the reason for the number. In the setting the keys are written
in capitals: ``{"QUEUES": QUEUES, "INBOX_RETENTION_DAYS": 180}``. Read by ``baton().inbox_retention_days``.

Invariant: an unknown key or a bad value is refused by one sentence that names it, at the first use of any key, and by
``manage.py check`` (baton.E002): a typo must not be silently ignored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, fields
from difflib import get_close_matches
from functools import cache
from math import isfinite
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed


@dataclass(frozen=True)
class Team:
    """The people who answer for a queue: a name and the address that alerts go to."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


@dataclass(frozen=True)
class Queue:
    """One line of the project's queue table. A name with a dot is a lane of the app before the dot."""

    name: str
    owner: Team

    @property
    def app_label(self) -> str:
        """Return the app whose work this queue carries."""
        return self.name.partition(".")[0]


class BadSetting(ImproperlyConfigured):
    """A key of ``BATON`` is unknown, missing, or has a value that it cannot have."""


@dataclass(frozen=True, eq=False, repr=False)  # of thirty fields, each method takes its time to make
class Baton:
    """The keys of ``BATON``. Times are in the unit that ends their name."""

    #: Each queue with its owner: the table behind task_queues, task_routes, the dead-letter exchange and triage.
    queues: tuple[Queue, ...]
    #: The queue of Baton's own housekeeping; its owner answers for relay, broker, database and schedule.
    platform_queue: str = "baton"

    # --- Relay -------------------------------------------------------------------------------------------------------
    #: Outbox rows that one relay claims in one statement: enough to fill bundles, few enough to send within the lease.
    relay_batch_size: int = 1_000
    #: Until another relay may take over rows whose relay died or hangs (F45).
    relay_lease_seconds: float = 30
    #: Between looks at the outbox when no NOTIFY arrives: pooled connections and due retries rely on it.
    relay_poll_seconds: float = 1.0
    #: Messages that fail to send for a reason of their own (not the broker's) before they are set aside.
    relay_max_send_failures: int = 5

    # --- What a message may be: checked before it is decoded, stored or shown --------------------------------------
    #: Bytes of the body of one Celery message that a worker takes; an event may fill half of it. A message of ours has
    #: some hundred, a hundred of them in a bundle a tenth of this; decoded, a hostile body takes thirty times its size.
    max_message_bytes: int = 2 * 1024 * 1024
    #: Envelopes in one bundle: no consumer's ``bundle_size`` may be larger.
    max_bundle_size: int = 1_000

    # --- Consumers ---------------------------------------------------------------------------------------------------
    #: What a consumer waits for a database that is away before it requeues the message unchanged.
    database_wait_seconds: float = 10
    #: After which RabbitMQ takes a message away from the worker that has it: its consumer_timeout. Every hard time
    #: limit must be shorter (baton.E008).
    broker_consumer_timeout_seconds: float = 1_800
    #: At least between two attempts, so that full jitter never gives 0 (F71).
    retry_floor_seconds: float = 1.0

    # --- Circuit breaker of each consumer ----------------------------------------------------------------------------
    #: Messages that all failed on transient errors before it opens.
    breaker_message_count: int = 3
    #: Until the first probe; doubled with each that fails, and at most.
    breaker_probe_seconds: float = 5
    breaker_max_probe_seconds: float = 60
    #: After which probes cost attempts again: a message that is itself at fault does not circle for ever.
    breaker_grace_seconds: float = 6 * 3_600

    # --- Broker ------------------------------------------------------------------------------------------------------
    #: Of RabbitMQ's management plug-in, with a login that may read (tag monitoring), as in
    #: https://monitor:…@mq.example.com:15671. Empty: what a policy changes at a queue stays unknown to health checks.
    rabbitmq_management_url: str = ""

    # --- Retention: the inbox must outlive whatever may still be delivered again ------------------------------------
    outbox_retention_days: float = 30
    inbox_retention_days: float = 90
    #: Of figures per minute, for the board's charts. The totals of /metrics stay.
    minute_retention_days: float = 8
    #: Of results of scheduled and long tasks.
    result_retention_days: float = 14
    #: Of settled dead letters; until then what was discarded can be restored.
    dead_letter_retention_days: float = 30
    #: Rows that one DELETE of the pruning takes: short locks, little WAL at a time.
    prune_batch_size: int = 1_000

    # --- Dead letters ------------------------------------------------------------------------------------------------
    #: Between two alerts about the same group, and the counts at which a growing one is told again.
    alert_period_seconds: float = 3_600
    alert_growth_counts: tuple[int, ...] = (10, 100, 1_000, 10_000)
    #: After which a dead letter that nobody has looked at is told, and told again.
    alert_age_seconds: float = 86_400
    #: Where the alerts' links lead, as in https://shop.example.com. Empty: they name the path only.
    desk_origin: str = ""
    #: Messages that a replay sends first and watches, and how many a second leave after that.
    replay_canary_count: int = 3
    replay_rate_per_second: int = 50

    # --- Processes ---------------------------------------------------------------------------------------------------
    #: Between two heartbeats of a process, and after how long without one it counts as dead: four missed.
    heartbeat_seconds: float = 5
    heartbeat_stale_seconds: float = 20
    #: After it was sent until a message may count as lost: longer than a handler's hard limit, so that a transaction
    #: which is just being committed is not taken for one that never began.
    reconcile_grace_seconds: float = 60
    #: After which doctor and board remind of a pause, and of a circuit that is open: a pause is for an afternoon, and
    #: what a circuit waits for is somebody's to mend by then.
    pause_age_seconds: float = 86_400
    circuit_age_seconds: float = 3_600
    #: How far ahead a retry may be due: further than any backoff, and it was a clock that ran ahead or a person.
    retry_ahead_seconds: float = 86_400
    #: After it was sent, until a message that is neither done, retried nor dead is told of: its queue does not keep up.
    queue_age_seconds: float = 900
    #: Database connections that the web processes may hold, one per thread; ``manage.py doctor`` adds them up.
    web_connection_count: int = 16
    #: Celery's commands of remote control that a worker executes beside those that read: ("revoke", "pool_grow").
    remote_control_commands: tuple[str, ...] = ()
    #: Of the project: what each process says that it runs. Empty: the version in the project's pyproject.toml.
    release: str = ""

    @property
    def max_message_age_seconds(self) -> float:
        """Return how long after it was sent a message may be processed: while the inbox surely remembers.

        A hundredth less than the inbox's retention, for clocks differ, and a tick of the pruning takes its time.
        """
        return self.inbox_retention_days * 86_400 * 0.99


#: Keys that may be 0: to watch nothing first, to count no connection of the web.
_MAY_BE_ZERO = frozenset({"replay_canary_count", "web_connection_count"})


@cache
def baton() -> Baton:
    """Return what the project says, and the defaults for the rest. Raises BadSetting."""
    return read(getattr(settings, "BATON", None))


def read(given: object) -> Baton:
    """Return the keys of one setting ``BATON``. Raises BadSetting with the first thing that is wrong."""
    if not isinstance(given, Mapping) or "QUEUES" not in given:
        raise BadSetting(
            'Expected BATON = {"QUEUES": …} in the settings, got none. Add, for a start: '
            'BATON = {"QUEUES": (Queue("baton", owner=Team("Platform team", "platform@example.com")),)}  '
            "# from baton_messaging.conf import Queue, Team"
        )
    known = {field.name.upper(): field for field in fields(Baton)}
    for key in given:
        if key not in known:
            raise BadSetting(f"Unknown key of BATON: {key}. Did you mean {_nearest(str(key), known)}?")
    keys = Baton(**{key.lower(): _checked(key, value, known[key]) for key, value in given.items()})
    names = [queue.name for queue in keys.queues]
    if keys.platform_queue not in names:
        raise BadSetting(
            f"BATON['PLATFORM_QUEUE']: expected a queue of QUEUES ({', '.join(names)}), got {keys.platform_queue!r}: "
            f"add Queue({keys.platform_queue!r}, owner=…) to QUEUES, or name one of them."
        )
    return keys


def checked_queues(value: Any) -> tuple[Queue, ...]:
    """Return a table of queues, as a tuple. Raises BadSetting with the first thing that is wrong."""
    queues = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
    if not queues or not all(isinstance(queue, Queue) for queue in queues):
        raise BadSetting(f"BATON['QUEUES']: expected a tuple of Queue(name, owner=Team(…)), got {value!r}.")
    names = [queue.name for queue in queues]
    for queue in queues:
        if not isinstance(queue.name, str) or not queue.name:
            raise BadSetting(f"BATON['QUEUES']: expected the name of an app or of a lane of it, got {queue.name!r}.")
        if not isinstance(queue.owner, Team) or "@" not in queue.owner.email:
            raise BadSetting(
                f"BATON['QUEUES']: expected queue {queue.name!r} with owner=Team(name, email), got {queue.owner!r}."
            )
        if names.count(queue.name) > 1:
            raise BadSetting(
                f"BATON['QUEUES']: expected each queue once, got {queue.name!r} {names.count(queue.name)} times."
            )
    return queues


def _checked(key: str, value: Any, field: Field[Any]) -> Any:
    """Return the value if it is of the key's kind. Raises BadSetting."""
    if key == "QUEUES":
        return checked_queues(value)
    if field.type is str:
        is_right, wanted = isinstance(value, str), "a text"
    elif field.type == tuple[str, ...]:
        value = tuple(value) if isinstance(value, list) else value
        is_right, wanted = isinstance(value, tuple) and all(isinstance(one, str) for one in value), "a list of texts"
    elif isinstance(field.default, tuple):
        value = tuple(value) if isinstance(value, list) else value
        is_right = isinstance(value, tuple) and all(_is_count(one) for one in value)
        wanted = "a list of counts"
    else:
        may_be_zero = key.lower() in _MAY_BE_ZERO
        is_right = _is_number(value, is_count=field.type is int, may_be_zero=may_be_zero)
        wanted = f"a {'count' if field.type is int else 'number'}{'' if may_be_zero else ' above 0'}"
    if not is_right:
        raise BadSetting(f"BATON[{key!r}]: expected {wanted}, got {value!r}.")
    return value


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_number(value: Any, *, is_count: bool, may_be_zero: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if is_count else int | float) or not isfinite(value):
        return False
    return value > 0 or (may_be_zero and value == 0)


def _nearest(name: str, known: Iterable[str]) -> str:
    return get_close_matches(name, known, n=1, cutoff=0)[0]


def _forget(*, setting: str, **_kwargs: Any) -> None:
    if setting == "BATON":
        baton.cache_clear()


setting_changed.connect(_forget, dispatch_uid="baton_messaging.conf")
