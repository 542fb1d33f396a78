"""Settings for `make lint`: the project's, deployed; only that the owners of the samples may be at example.com."""

from config.settings import *  # noqa: F403

SILENCED_SYSTEM_CHECKS = ["baton.W404"]  # remove it, and this module, when config/queues.py names your own teams
