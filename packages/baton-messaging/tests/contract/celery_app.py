"""A Celery app with the project's own settings on a broker of the tests, with shortened timeouts."""

from typing import Any

from baton_messaging.broker.options import broker_settings, redis_options
from baton_messaging.broker.transports import install
from baton_messaging.conf import Queue
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE, EXCHANGE, celery_queues
from celery import Celery

from tests import settings as project
from tests.project.queues import PLATFORM

QUEUES = ("contract", "contract.other")
STARTED, FINISHED = "started", "finished"  # what the tasks write down
DELIVERY_LIMIT = 2  # three runs
# Of workers that are to notice soon what RabbitMQ has done to them, or it to them. Never where deliveries are counted:
# either may take a message for delivered that no task has seen, all the more on a busy machine.
ALERT_RENEWAL_SECONDS = 1.0  # without a message, until a worker renews its subscription
ALERT_HEARTBEAT_SECONDS = 2  # RabbitMQ takes a worker that is silent for twice as long for dead


def make_app(broker_url: str, *, visibility_timeout: float | None = None, **options: Any) -> Celery:
    """Return the app. Without ``visibility_timeout`` the timeouts are those that the project ships."""
    install()
    app = Celery("contract", set_as_current=False, fixups=[])  # no Django: only the broker is under test
    app.conf.update(
        {
            name.removeprefix("CELERY_").lower(): value
            for name, value in vars(project).items()
            if name.startswith("CELERY_")
        }
    )
    table: dict[str, Any] = {
        "exchange": EXCHANGE.name,
        "queues": [*QUEUES, DEAD_LETTER_QUEUE],
        "dead_letter_queue": DEAD_LETTER_QUEUE,
        "delivery_limit": DELIVERY_LIMIT,
    }
    broker = broker_settings(broker_url, **table)
    if visibility_timeout and not broker_url.startswith("amqp"):
        broker.transport_options.update(redis_options(**table, visibility_timeout=visibility_timeout))
    app.conf.update(
        # To both: to ``broker_url`` Celery prefers the variable CELERY_BROKER_URL, which names another broker here.
        broker_read_url=broker.url,
        broker_write_url=broker.url,
        broker_transport_options={**broker.transport_options, **options},
        broker_use_ssl=broker.use_ssl,
        broker_connection_timeout=2,
        task_queues=celery_queues([Queue(name, owner=PLATFORM) for name in QUEUES], delivery_limit=DELIVERY_LIMIT),
        task_routes=None,
        task_default_queue=QUEUES[0],
        task_publish_retry=False,
        task_soft_time_limit=None,  # a hard limit below the soft one never comes: Celery waits for the soft one first
        task_time_limit=None,
        result_backend="disabled://",
        beat_schedule={},
        worker_consumer="baton_messaging.worker.consumer:Consumer",
    )
    return app
