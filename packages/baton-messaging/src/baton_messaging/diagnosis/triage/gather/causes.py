"""What may take all the time that there is, is asked while the broker is read: causes, and the apps' own checks.

Each in a thread with a connection of its own, left behind when time is up: a storage may hang, or a server.
"""

import threading
from collections.abc import Callable, Collection
from time import monotonic
from typing import Final, TypeVar

import structlog
from django.db import connections

from baton_messaging.diagnosis.installation import DEADLINE_SECONDS, current_causes
from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.recovery.findings import contradicting

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer")
PATIENCE_SECONDS: Final = 0.2  # beyond the deadline that the examination keeps by itself
Causes = tuple[Diagnosis, ...]
Contradictions = dict[str, tuple[Diagnosis, ...]]  # by key


def ask_causes() -> Callable[[], Causes]:
    """Begin to ask what stops work; return what waits for the answer. Without one the rules answer alone."""
    return _ask(lambda: current_causes(DEADLINE_SECONDS), without=())


def ask_contradictions(keys: Collection[str]) -> Callable[[], Contradictions]:
    """Begin to ask the apps what of some keys' rows contradicts "done"."""
    return _ask(lambda: {key: tuple(found) for key, found in contradicting(keys).items()}, without={})


def _ask(question: Callable[[], Answer], *, without: Answer) -> Callable[[], Answer]:
    found: list[Answer] = []

    def ask() -> None:
        try:
            found.append(question())
        except Exception:  # whatever it is, the reader's question was another one
            log.exception("not_answered")
        finally:
            connections.close_all()

    asker = threading.Thread(target=ask, name="triage-question", daemon=True)
    asker.start()
    until = monotonic() + DEADLINE_SECONDS + PATIENCE_SECONDS

    def answer() -> Answer:
        asker.join(max(0.0, until - monotonic()))
        return found[0] if found else without

    return answer
