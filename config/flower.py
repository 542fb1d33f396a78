"""Flower: a window on workers and queues. It reads this file by `--conf=config/flower.py`.

It only looks: what changes anything is done in the admin, where it is recorded. `/healthcheck` needs no password; every
other address does, static files, `/metrics` and what does not exist included. What workers tell of their configuration
holds no secret (baton_messaging/broker/censoring.py).

Events are stripped of what a task was given and gave back before Flower stores them, so neither a page nor the API nor
its memory holds any of it. Hazard: names in this file that Flower has an option for (`logging`, `port`) are options.
"""

from base64 import b64decode
from hmac import compare_digest
from logging import ERROR, getLogger
from typing import Any

from flower.app import Flower
from flower.events import EventsState
from flower.views.monitor import Healthcheck
from tornado.httputil import HTTPServerRequest
from tornado.web import RequestHandler

from config.env import end, env
from config.env.ports import end_if_taken

if not env.FLOWER_BASIC_AUTH and not env.DJANGO_DEBUG:
    end("FLOWER_BASIC_AUTH: missing. Set it to user:password, or DJANGO_DEBUG to true.")
end_if_taken("FLOWER_PORT", port=env.FLOWER_PORT, host=env.FLOWER_HOST)

address = env.FLOWER_HOST
port = env.FLOWER_PORT
basic_auth = [pair for pair in env.FLOWER_BASIC_AUTH.split(",") if pair]
read_only = True
persistent = False
max_tasks = 10_000  # tasks (count) kept in memory, some 2 kB each; Flower's own default is ten times that
max_workers = 100  # workers (count) kept in memory
purge_offline_workers = 600  # seconds after which a worker that is gone leaves the list
inspect_timeout = 1_000.0  # milliseconds that workers get to answer

# It asks all workers at start, when some are not there yet. A worker that is away is seen on the page.
getLogger("flower.inspector").setLevel(ERROR)


class Stranger(RequestHandler):
    """Who asks without the password, for whatever address."""

    def check_xsrf_cookie(self) -> None:
        """Skip it: nothing is done for a stranger."""

    def prepare(self) -> None:
        """Answer 401 to any method."""
        self.set_status(401)
        self.set_header("WWW-Authenticate", 'Basic realm="flower"')
        self.finish("Expected the user and the password of FLOWER_BASIC_AUTH.\n")


_find: Any = Flower.find_handler


def find_handler(flower: Flower, request: HTTPServerRequest, **kwargs: Any) -> Any:
    """Return Flower's handler of an address, or the refusal. Where no password is set (in debug), all may look."""
    found = _find(flower, request, **kwargs)
    is_open = getattr(found, "handler_class", None) is Healthcheck or not basic_auth
    return found if is_open or _has_password(request) else flower.get_handler_delegate(request, Stranger)


def _has_password(request: HTTPServerRequest) -> bool:
    scheme, _blank, encoded = request.headers.get("Authorization", "").partition(" ")
    try:
        shown = b64decode(encoded.strip(), validate=True)
    except ValueError:
        return False
    return scheme.lower() == "basic" and any(compare_digest(shown, pair.encode()) for pair in basic_auth)


Flower.find_handler = find_handler  # type: ignore[assignment]

CONTENTS = ("args", "kwargs", "result", "traceback")
_store: Any = EventsState.event


def store_without_contents(state: EventsState, event: dict[str, Any]) -> None:
    """Store an event; of an exception only the class, for its text may quote the values at fault."""
    hidden = {name: "(hidden)" for name in CONTENTS if event.get(name)}
    if event.get("exception"):
        hidden["exception"] = str(event["exception"]).partition("(")[0]
    _store(state, {**event, **hidden})


EventsState.event = store_without_contents  # type: ignore[method-assign]
