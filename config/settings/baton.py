"""What Baton is told of this project. The other keys have their defaults in baton_messaging/conf.py."""

from typing import Any

from config.env import Environment, env
from config.queues import QUEUES
from config.settings.base import PUBLIC_URL

# Variables that somebody reads: any other with a prefix of ours is refused as a typo (baton.E003).
KNOWN_VARIABLES = tuple(Environment.model_fields)

BATON: dict[str, Any] = {
    "QUEUES": QUEUES,
    "RELEASE": env.BATON_RELEASE,
    "DESK_ORIGIN": PUBLIC_URL,  # an alert's link to the dead letters begins with it
    "WEB_CONNECTION_COUNT": env.WEB_PROCESSES * env.WEB_THREADS,
}
