"""The installation's causes are asked for while the broker is read: both may take all the time that there is."""

import threading
from collections.abc import Callable
from time import monotonic
from typing import Final

import structlog
from django.db import connections

from baton_messaging.diagnosis.installation import DEADLINE_SECONDS, current_causes
from baton_messaging.health.diagnosis import Diagnosis

log = structlog.get_logger(__name__)

PATIENCE_SECONDS: Final = 0.2  # beyond the deadline that the examination keeps by itself
Causes = tuple[Diagnosis, ...]


def ask_causes() -> Callable[[], Causes]:
    """Begin to ask; return what waits for the answer. Without one in time there are none: the rules answer alone."""
    found: list[Causes] = []

    def ask() -> None:
        try:
            found.append(current_causes(DEADLINE_SECONDS))
        except Exception:  # whatever it is, the question was another one
            log.exception("causes_not_known")
        finally:
            connections.close_all()

    asker = threading.Thread(target=ask, name="triage-causes", daemon=True)
    asker.start()
    until = monotonic() + DEADLINE_SECONDS + PATIENCE_SECONDS

    def answer() -> Causes:
        asker.join(max(0.0, until - monotonic()))
        return found[0] if found else ()

    return answer
