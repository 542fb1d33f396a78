"""Celery: brokers, queues, acknowledgement, limits, schedule. Facts measured on celery 5.7 are answered here."""

from celery.schedules import crontab

from config.env import env
from config.queues import QUEUES
from messaging.queues import DEAD_LETTER_EXCHANGE, celery_queues, route_task

_DELIVERY_LIMIT = 3  # returns to the queue; 3 means four runs, as RabbitMQ counts

CELERY_BROKER_URL = env.CELERY_BROKER_URL
CELERY_TASK_DEFAULT_QUEUE = "messaging"
CELERY_TASK_DEFAULT_EXCHANGE = "tasks"
CELERY_TASK_CREATE_MISSING_QUEUES = False  # a typo fails at once (F51)
CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=_DELIVERY_LIMIT)
CELERY_TASK_ROUTES = (route_task,)

CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True  # else a killed child counts as done; the delivery limit ends the loop
CELERY_TASK_ACKS_ON_FAILURE = False  # a failure is rejected, so that it reaches the dead-letter exchange (F04)
CELERY_TASK_ACKS_ON_TIMEOUT = False  # a hard limit kills the child: the message goes back, the delivery limit counts
CELERY_TASK_IGNORE_RESULT = False
CELERY_RESULT_BACKEND = "django-db"
CELERY_RESULT_EXTENDED = True
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_ENABLE_UTC = True
CELERY_TIMEZONE = "UTC"  # no daylight saving in the schedule (F91)

CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20.0
CELERY_WORKER_ENABLE_SOFT_SHUTDOWN_ON_IDLE = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_SEND_TASK_EVENTS = True
CELERY_TASK_SEND_SENT_EVENT = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None

CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"confirm_publish": True}
    if env.CELERY_BROKER_URL.startswith("amqp")
    else {"visibility_timeout": 30, "dead_letter_queue": DEAD_LETTER_EXCHANGE.name, "delivery_limit": _DELIVERY_LIMIT}
)

CELERY_BEAT_SCHEDULE = {
    "prune": {"task": "messaging.prune", "schedule": crontab(minute="*/10"), "options": {"expires": 300}},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(env.BATON_STATE_DIR / "celerybeat-schedule")
