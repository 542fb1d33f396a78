"""Settings for `make lint`: the project's, deployed; only that the owners of the samples may be at example.com."""

from config.settings import *  # noqa: F403
from config.settings import SILENCED_SYSTEM_CHECKS as _SILENCED

SILENCED_SYSTEM_CHECKS = [
    *_SILENCED,
    "baton.W404",
]  # remove it, and this module, when config/queues.py names your own teams
