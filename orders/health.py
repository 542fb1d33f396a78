"""What the consumers of orders depend on beside the database and the broker: the storage of exports.

The check runs in workers and in the web process: where they do not see the same storage, the ids that it finds differ.
"""

from baton_messaging.extend.health import Deadline, Health, health_check, storage_health
from django.core.files.storage import storages

from orders.exports.files import STORAGE_ALIAS

EXPORTS = "exports"


@health_check(EXPORTS)
def check_exports(_deadline: Deadline) -> Health:
    """Store a small file where finished exports go, read it back, and delete it."""
    return storage_health(EXPORTS, storages[STORAGE_ALIAS])
