"""Celery: brokers, queues, acknowledgement, limits, schedule. Facts measured on celery 5.7 are answered here."""

from baton_messaging.install import beat_schedule, broker_settings, celery_queues, route_task

from config.env import env
from config.queues import QUEUES

# Returns to the queue before a message is dead-lettered: 3 means four runs, as RabbitMQ counts. Enough for a deploy
# that kills workers twice; few enough that a message that kills its worker does so for seconds, not for a night (F07).
DELIVERY_LIMIT = 3

_broker = broker_settings(env.CELERY_BROKER_URL, QUEUES, delivery_limit=DELIVERY_LIMIT)
CELERY_BROKER_READ_URL = _broker.url  # both, because to broker_url Celery prefers the environment's variable
CELERY_BROKER_WRITE_URL = _broker.url
CELERY_BROKER_TRANSPORT_OPTIONS = _broker.transport_options
CELERY_BROKER_USE_SSL = _broker.use_ssl
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True  # a worker that starts before its broker waits for it
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # and goes on waiting, however long the outage
CELERY_BROKER_CHANNEL_ERROR_RETRY = True  # a queue that is deleted under its worker ends no worker, but a connection
CELERY_WORKER_CONSUMER = "baton_messaging.worker.consumer:Consumer"  # dead-letters what cannot be decoded
CELERY_WORKER_POOL = "baton_messaging.worker.pool:TaskPool"  # -P prefork; notices at once that a child was killed

# --- Queues and routes: from the one table -------------------------------------------------------------------------
CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=DELIVERY_LIMIT)
CELERY_TASK_ROUTES = (route_task,)
CELERY_TASK_DEFAULT_QUEUE = "baton"  # Celery's own tasks, and plain ones that go to no queue of the table
CELERY_TASK_CREATE_MISSING_QUEUES = False  # a typo fails at once (F51)

# --- Acknowledgement: a consumer expects to fail -------------------------------------------------------------------
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True  # else a killed child counts as done; the delivery limit ends the loop
CELERY_TASK_ACKS_ON_FAILURE = False  # a failure is rejected, so that it reaches the dead-letter exchange (F04)
CELERY_TASK_ACKS_ON_TIMEOUT = False  # a hard limit kills the child: the message goes back, the delivery limit counts
# Messages held per child: no message waits behind a long one while another worker is idle, and none is counted as
# delivered that never ran (F50). docs/decisions/a-worker-holds-one-message-per-child.md
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False  # the inbox absorbs the second delivery (F15)

# --- Limits --------------------------------------------------------------------------------------------------------
CELERY_TASK_SOFT_TIME_LIMIT = 240  # seconds; for tasks that are no consumers, which have their own
CELERY_TASK_TIME_LIMIT = 270  # seconds; 30 to clean up
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20.0  # seconds for running tasks at SIGQUIT (F40)
CELERY_WORKER_ENABLE_SOFT_SHUTDOWN_ON_IDLE = False  # nothing here waits in a worker's memory for its ETA

# --- Content: JSON and nothing else --------------------------------------------------------------------------------
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]

# --- Results of scheduled and long tasks; consumers ignore theirs, the inbox is their record ------------------------
CELERY_RESULT_BACKEND = "django-db"
CELERY_RESULT_EXTENDED = True  # the admin shows a result's task name and worker
CELERY_RESULT_EXPIRES = None  # baton.prune deletes them in small batches; Celery's own cleanup takes one big one

# --- Flower --------------------------------------------------------------------------------------------------------
# Off until somebody listens: Flower asks for events at its start and every 5 seconds (`enable_events`). Unheard, they
# cost a worker's main process a third of its time.
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TASK_SEND_SENT_EVENT = False  # the relay sends; the outbox is its record
CELERY_EVENT_QUEUE_TTL = 5  # seconds an event waits for a Flower that is away (F82)
CELERY_EVENT_QUEUE_EXPIRES = 60  # seconds until the queue of a Flower that is gone is deleted

# --- Schedule ------------------------------------------------------------------------------------------------------
CELERY_ENABLE_UTC = True
CELERY_TIMEZONE = "UTC"  # no daylight saving in the schedule (F91)
CELERY_BEAT_SCHEDULER = "baton_messaging.processes.scheduler:Scheduler"  # Celery's own, which says that it ticks
CELERY_BEAT_MAX_LOOP_INTERVAL = 5  # seconds; beat's heartbeat is a tick, so it ticks at least as often as it beats
# Times of the clock, not intervals, so that restarts of beat skip nothing (F79). `expires` (seconds) is below the
# interval: after an outage one tick runs, not a flood of old ones (F78).
CELERY_BEAT_SCHEDULE = beat_schedule()  # Baton's own: pruning, dead letters, reconciler, statistics
CELERY_BEAT_SCHEDULE_FILENAME = str(env.BATON_STATE_DIR / "celerybeat-schedule")
