"""Settings of a worker whose limits are so short that tests can wait for them."""

from tests.settings import *  # noqa: F403
from tests.settings import EXPORTS as _EXPORTS
from tests.settings import STORAGES as _STORAGES

EXPORTS = {**_EXPORTS, "SOFT_TIME_LIMIT_SECONDS": 2, "TIME_LIMIT_SECONDS": 4}
STORAGES = {**_STORAGES, "exports": {**_STORAGES["exports"], "BACKEND": "tests.orders.exports.storages.Deaf"}}
