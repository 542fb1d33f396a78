"""Gunicorn: threads in a few processes, a drain that outlasts any page, logs without personal data."""

import os
from typing import Any

from config.env import env
from config.env.ports import end_if_taken
from config.web.server_worker import limit_pieces

bind = f"{env.WEB_HOST}:{env.WEB_PORT}"
worker_class = "config.web.server_worker.Worker"  # threads; slow clients take none
workers = env.WEB_PROCESSES
threads = env.WEB_THREADS
timeout = 30  # seconds without a heartbeat from a process, after which it is killed and replaced
graceful_timeout = 30  # seconds that requests get to finish after SIGTERM
keepalive = env.WEB_KEEP_ALIVE_SECONDS
max_requests = 10_000  # requests (count) after which a process is replaced, so that a leak cannot grow for ever
max_requests_jitter = 1_000  # so that the processes are not replaced at the same time
# What a proxy says of the client is Django's to believe or not (PROXY_COUNT); gunicorn would believe loopback.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
control_socket_disable = True  # it would be a file in the home directory, shared by all checkouts
loglevel = "warning"  # that it starts and stops is told by whoever starts and stops it
logger_class = "config.web.server_log.ServerLogger"  # control characters spelled out, as in every log
accesslog = None  # config/web/request_log.py writes a line per request, with its status and duration
# For `--access-logfile -`: no query string, client address, referrer or user agent, for those are personal data.
access_log_format = "%(m)s %(U)s %(s)s %(M)s ms"


def on_starting(server: object) -> None:
    """Refuse a taken port at once and by name; gunicorn would try five times and name no variable."""
    if "GUNICORN_FD" not in os.environ:
        end_if_taken("WEB_PORT", port=env.WEB_PORT, host=env.WEB_HOST)


pre_request = limit_pieces


def post_worker_init(worker: Any) -> None:
    """Trace and beat in each process, after the fork and when the settings are read."""
    from baton_messaging.messages import tracing  # noqa: PLC0415 - Django is ready only now

    tracing.start("web")
    if begin := getattr(worker.wsgi, "begin", None):  # of baton_messaging.install.with_heartbeat
        begin()


def worker_exit(server: object, worker: object) -> None:
    """Send what is left of the traces."""
    from baton_messaging.messages import tracing  # noqa: PLC0415 - as above

    tracing.stop()
