"""A snapshot of the queues answers in time: for a page, or a scrape of /metrics, which cannot wait.

Whatever the broker does (gone, hanging, behind a firewall that swallows packets), the answer is there in time: depths,
or None. The question goes on in a thread of its own until its sockets time out, and meanwhile no second one is asked.
Where that takes longer than the caller can wait (a busy machine, a distant broker), the last snapshot answers for a
while.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from celery import current_app

from baton_messaging.broker.inspect.depth import Depth, depths
from baton_messaging.broker.options import AMQP_SCHEMES

log = structlog.get_logger(__name__)

MAX_WAIT_SECONDS: Final = 0.15  # for the answer: half of what a page or a scrape may take
SNAPSHOT_LIFETIME_SECONDS: Final = 10  # how long an answer counts while the next one is on its way
SOCKET_SECONDS: Final = 1  # for the question itself, if no caller waits for it any more

_lock = threading.Lock()
_pool = ThreadPoolExecutor(1, thread_name_prefix="broker-snapshot")
_pending: "Future[dict[str, Depth]] | None" = None
_last: tuple[float, dict[str, Depth]] | None = None  # when the broker answered, and what; None once it did not


def depths_in_time(queues: Sequence[str], *, seconds: float = MAX_WAIT_SECONDS) -> Mapping[str, Depth] | None:
    """Return the depth of each queue, or None if the broker does not tell within ``seconds``."""
    try:
        return _begun(queues).result(timeout=seconds)
    except TimeoutError:
        return _last_answer()
    except Exception as error:  # whatever the client libraries raise: the broker did not tell
        log.warning("broker_away", error_class=type(error).__name__)
    return None


def _last_answer() -> dict[str, Depth] | None:
    last = _last
    if last is not None and time.monotonic() - last[0] <= SNAPSHOT_LIFETIME_SECONDS:
        return last[1]
    log.warning("broker_slow")
    return None


def _begun(queues: Sequence[str]) -> "Future[dict[str, Depth]]":
    global _pending  # noqa: PLW0603 - one question per process is the point
    with _lock:
        if _pending is None or _pending.done():
            _pending = _pool.submit(_ask, queues)
        return _pending


def _ask(queues: Sequence[str]) -> dict[str, Depth]:
    global _last  # noqa: PLW0603 - as above
    try:
        found = _depths(queues)
    except Exception:
        _last = None
        raise
    _last = time.monotonic(), found
    return found


def _depths(queues: Sequence[str]) -> dict[str, Depth]:
    connection = current_app.connection_for_read(connect_timeout=SOCKET_SECONDS, transport_options=_timeouts())
    with connection:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=SOCKET_SECONDS)
        return depths(connection, queues)


def _timeouts() -> dict[str, Any]:
    if urlsplit(current_app.conf.broker_read_url or "").scheme in AMQP_SCHEMES:
        return {"read_timeout": SOCKET_SECONDS, "write_timeout": SOCKET_SECONDS}
    return {"socket_timeout": SOCKET_SECONDS, "socket_connect_timeout": SOCKET_SECONDS}
