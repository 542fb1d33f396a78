"""Settings of the tests' project: Celery's as a project of its own would write them, and short times to wait for."""

import os
from pathlib import Path
from typing import Any

import dj_database_url
import django
import structlog
from baton_messaging.install import beat_schedule, broker_settings, celery_queues, route_task

import tests.project.celery  # noqa: F401 - whoever has the settings has the Celery application, too
from tests.project.queues import QUEUES

TEST_APPLICATION = "tests.project"  # what baton_dev.testing starts workers of
#: Variables that somebody reads: any other with a prefix of Baton or Celery is refused as a typo.
KNOWN_VARIABLES = ("BATON_STATE_DIR", "BATON_FAILURES_FILE", "CELERY_BROKER_URL")
STATE_DIR = Path(os.environ.get("BATON_STATE_DIR", "var/test"))
DEBUG = True
SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "only for the checks of types, which connect to nothing")
SECRET_KEY_FALLBACKS = [key for key in os.environ.get("DJANGO_SECRET_KEY_FALLBACKS", "").split(",") if key]
ALLOWED_HOSTS = ["*"]
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGES = [("en", "English"), ("ja", "Japanese")]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
ROOT_URLCONF = "tests.project.urls"
STATIC_URL = "static/"
LOGIN_URL = "login"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # logging in is not what tests wait for
METRICS_TOKEN = os.environ.get("METRICS_TOKEN", "")
TRACING_ENDPOINT = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
FLOWER_URL = ""

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "tests.project.apps.UnfoldAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django_celery_results",
    "django_htmx",
    "ninja",
    "baton_messaging",
    "baton_messaging.ui",
    "tests.sample",
    "tests.parcels",
    "tests.chores",
]
MIDDLEWARE = [
    "django_structlog.middlewares.RequestMiddleware",
    "baton_messaging.middleware.correlate",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
DATABASES = {
    "default": dj_database_url.parse(
        os.environ.get("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none"), conn_max_age=None, conn_health_checks=True
    )
}
DATABASES["default"]["OPTIONS"] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 5_000,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}

# --- Baton -----------------------------------------------------------------------------------------------------------
BATON: dict[str, Any] = {
    "QUEUES": QUEUES,
    "DATABASE_WAIT_SECONDS": 2,  # below the short limits of tests/sample
    "HEARTBEAT_SECONDS": 1,  # what a process says of itself is what tests wait for
    "HEARTBEAT_STALE_SECONDS": 3,
    "RECONCILE_GRACE_SECONDS": 2,
    # What tests order workers to do; that they refuse all else is tested with a worker of its own.
    "REMOTE_CONTROL_COMMANDS": os.environ.get("TEST_REMOTE_CONTROL", "revoke cancel_consumer").split(),
}

TASKS = {
    "default": {
        "BACKEND": "baton_messaging.tasks_backend.OutboxBackend",
        "QUEUES": ["default", "chores.bulk", "parcels.bulk"],
    },
}

# --- Celery ----------------------------------------------------------------------------------------------------------
DELIVERY_LIMIT = 3
_BROKER = broker_settings(
    os.environ.get("CELERY_BROKER_URL") or "redis://127.0.0.1:1/0", QUEUES, delivery_limit=DELIVERY_LIMIT
)
CELERY_BROKER_READ_URL = _BROKER.url
CELERY_BROKER_WRITE_URL = _BROKER.url
CELERY_BROKER_TRANSPORT_OPTIONS = _BROKER.transport_options
if "queues" in _BROKER.transport_options:  # Redis; what a killed worker had taken comes back while a test waits for it
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        **_BROKER.transport_options,
        "visibility_timeout": 9,
        "lease_renewal_seconds": 1.5,
        "unacked_restore_interval": 1.5,
        "socket_timeout": 3,
        "socket_connect_timeout": 3,
    }
CELERY_BROKER_USE_SSL = _BROKER.use_ssl
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
CELERY_WORKER_CONSUMER = "baton_messaging.worker.consumer:Consumer"
CELERY_WORKER_POOL = "baton_messaging.worker.pool:TaskPool"
CELERY_TASK_QUEUES = celery_queues(QUEUES, delivery_limit=DELIVERY_LIMIT)
CELERY_TASK_ROUTES = (route_task,)
CELERY_TASK_DEFAULT_QUEUE = "baton"
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_ACKS_ON_FAILURE = False
CELERY_TASK_ACKS_ON_TIMEOUT = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_TASK_SOFT_TIME_LIMIT = 240
CELERY_TASK_TIME_LIMIT = 270
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20.0
CELERY_WORKER_ENABLE_SOFT_SHUTDOWN_ON_IDLE = False
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_RESULT_BACKEND = "django-db"
CELERY_RESULT_EXTENDED = True
CELERY_RESULT_EXPIRES = None
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TASK_SEND_SENT_EVENT = False
CELERY_ENABLE_UTC = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "baton_messaging.processes.scheduler:Scheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 1  # a heartbeat comes with each round, and is soon too old here
CELERY_BEAT_SCHEDULE = beat_schedule()
CELERY_BEAT_SCHEDULE_FILENAME = str(STATE_DIR / "celerybeat-schedule")

# --- Logs ------------------------------------------------------------------------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
}
structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.dev.ConsoleRenderer(colors=False, pad_event_to=20, exception_formatter=structlog.dev.plain_traceback),
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)

# --- Mail: the alerts' -----------------------------------------------------------------------------------------------
_MAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
if django.VERSION >= (6, 1):  # which warns of the EMAIL_* settings that 5.2 needs
    MAILERS = {"default": {"BACKEND": _MAIL_BACKEND, "OPTIONS": {"file_path": str(STATE_DIR / "mail")}}}
else:
    EMAIL_BACKEND, EMAIL_FILE_PATH = _MAIL_BACKEND, str(STATE_DIR / "mail")
DEFAULT_FROM_EMAIL = "shop@example.com"
