"""A consumer is declared by a decorator: a Celery task with Celery's own options, and defaults that expect failure.

    @consumer(StockReserved, bundle_size=1, soft_time_limit=20, time_limit=30)
    def print_label(event: StockReserved) -> None:
        services.print_label(order_id=event.order_id)

Classify errors where they arise (``baton_messaging.errors``) and let them rise: a consumer has no try/except.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from celery import Task, current_app, shared_task
from django.db import OperationalError

from baton_messaging.consuming.delivery import deliver
from baton_messaging.errors import TransientError
from baton_messaging.events import Event
from baton_messaging.routing.subscriptions import Subscription, all_consumers, subscribe

__all__ = ["ConsumerTask", "Policy", "consumer"]

E = TypeVar("E", bound=Event)

if TYPE_CHECKING:
    _Task = Task[[list[str]], None]
else:  # generic only in the stubs
    _Task = Task


class ConsumerTask(_Task):
    """Defaults of every consumer; each can be set in its decorator.

    Celery acknowledges after the commit (acks_late); a child that dies gives the message back
    (reject_on_worker_lost), until the queue's delivery limit. ``max_retries`` 7 means 8 attempts, over about ten
    minutes. Results are ignored: the inbox is the record.
    """

    acks_late = True
    reject_on_worker_lost = True
    acks_on_failure = False
    acks_on_timeout = False
    ignore_result = True
    typing = False

    # Deadlocks and lock timeouts arrive as OperationalError; an unreachable database costs no attempt at all.
    autoretry_for: ClassVar[tuple[type[BaseException], ...]] = (
        TransientError,
        OperationalError,
        ConnectionError,
        TimeoutError,
        MemoryError,  # a neighbour may have filled the memory; left to Celery it would end the whole worker (F32)
    )
    dont_autoretry_for: ClassVar[tuple[type[BaseException], ...]] = ()
    retry_backoff: float = 5  # seconds after the first failure; doubles with each
    retry_backoff_max: float = 600  # seconds
    retry_jitter: bool = True
    max_retries: int = 7
    soft_time_limit: int = 30  # seconds for a bundle; one that hits it is split
    time_limit: int = 40  # seconds; ten to clean up before the child is killed

    event: ClassVar[type[Event]]
    handler: Callable[[Any], None]
    bundle: bool = False
    bundle_size: int = 100  # messages at most in one Celery message; 1 for effects outside the database
    atomic: bool = True
    depends_on: Sequence[str] = ()  # names of health checks: what it works with beside database and broker (baton.E604)
    idempotent_by: str = ""  # what makes a repeat harmless where the inbox's transaction does not (baton.E301)

    Request = "baton_messaging.worker.request:ConsumerRequest"  # expired or revoked: dead-lettered, not acknowledged

    # Celery wraps `run` with its own retry (which waits in a worker's memory) unless this attribute is there.
    _orig_run = None


class Policy:
    """Options that several consumers share, under one name: ``MAIL = Policy(max_retries=24, time_limit=60)``.

    What a decorator says beside ``policy=`` wins over it. *Raises*. TypeError at import for what is no option: a
    misspelt limit would be none.
    """

    def __init__(self, **options: Any) -> None:
        unknown = sorted(name for name in options if name != "queue" and not hasattr(ConsumerTask, name))
        if unknown:
            raise TypeError(
                f"Expected options of a consumer, got {', '.join(unknown)}. They are ConsumerTask's attributes."
            )
        self.options: Mapping[str, Any] = MappingProxyType(options)


def consumer(
    event: type[E], *, policy: Policy | None = None, bundle: bool = False, **options: Any
) -> Callable[[Callable[[Any], None]], ConsumerTask]:
    """Make a function of an app's ``tasks.py`` the consumer of an event: ``@consumer(OrderPlaced)``.

    *Shapes*. The function gets the event, or with ``bundle=True`` a list of them. The task is called
    "<app>.<function>", and goes to the queue of its app unless ``queue="orders.bulk"`` names a lane. Other options are
    Celery's; the defaults are the attributes of ConsumerTask. Options that several consumers share are a Policy.

    ``depends_on=["mail"]`` names the health checks of what it works with, which triage asks before it blames the
    consumer; an app adds its own by ``extend.health``.

    *Units*. ``soft_time_limit``, ``time_limit``, ``retry_backoff``, ``retry_backoff_max`` in seconds; ``max_retries``
    counts what follows the first attempt; ``bundle_size`` counts messages.

    *Returns*. The task. Calling it runs nothing useful: publish the event, or in a test use ``testing.deliver``.

    *Raises*. ValueError at import when two consumers would share a name. What the function raises decides what becomes
    of the message: ``baton_messaging.errors``.

    *Invariant*. The function runs inside the transaction that also holds its inbox rows: what it writes and publishes
    happens once, however often the message arrives. With ``atomic=False`` it runs outside any transaction, must keep
    its own state, and says in ``idempotent_by`` what makes repeating it safe.

    *Hazard*. Effects outside the database (mail, HTTP) may be repeated: give such a consumer ``bundle_size=1`` and a
    deterministic id that the other side recognises.

    *Source*. Celery manual, "Tasks": options of a task.
    """

    options = {**(policy.options if policy else {}), **options}
    queue = options.pop("queue", None)  # kept from Celery, whose attribute of that name is deprecated: ours routes

    def declare(function: Callable[[Any], None]) -> ConsumerTask:
        name = f"{_app_label(function)}.{function.__name__}"
        declared: ConsumerTask = shared_task(
            name=name,
            base=ConsumerTask,
            bind=True,
            event=event,
            handler=staticmethod(function),
            bundle=bundle,
            **options,
        )(_named_like(function))  # type: ignore[no-untyped-call]  # the decorator that shared_task returns
        subscribe(
            Subscription(
                consumer=name,
                event_name=event.event_name,
                bundle_size=options.get("bundle_size", ConsumerTask.bundle_size),
                max_attempts=options.get("max_retries", ConsumerTask.max_retries) + 1,
                queue=queue,
                depends_on=tuple(options.get("depends_on", ())),
            )
        )
        return declared

    return declare


def consumer_tasks() -> list[ConsumerTask]:
    """Return the tasks of all consumers, in name order."""
    tasks = (current_app.tasks[name] for name in all_consumers())
    return [task for task in tasks if isinstance(task, ConsumerTask)]


def _app_label(function: Callable[[Any], None]) -> str:
    return function.__module__.removesuffix(".tasks").rpartition(".")[2]


def _named_like(function: Callable[[Any], None]) -> Callable[[ConsumerTask, list[str]], None]:
    def run(task: ConsumerTask, bundle: list[str]) -> None:
        deliver(task, bundle)

    run.__name__, run.__doc__, run.__module__ = function.__name__, function.__doc__, function.__module__
    run.__qualname__ = function.__qualname__
    return run
