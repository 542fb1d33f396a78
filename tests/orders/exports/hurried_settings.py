"""Settings of a worker whose limits are so short that tests can wait for them."""

from tests.settings import *  # noqa: F403
from tests.settings import EXPORTS as _EXPORTS
from tests.settings import STORAGES as _STORAGES

# Far enough apart that an export which a busy machine begins late is past the soft one, too, when the hard one strikes.
EXPORTS = {**_EXPORTS, "SOFT_TIME_LIMIT_SECONDS": 3, "TIME_LIMIT_SECONDS": 9}
STORAGES = {**_STORAGES, "exports": {**_STORAGES["exports"], "BACKEND": "tests.orders.exports.storages.Deaf"}}
