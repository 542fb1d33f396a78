"""Settings of the project, one module per concern. All values come from config/env.

Code that has the settings has the Celery application, too: the one that tasks belong to and messages are sent by. It is
imported here, not by the package around: that also holds what runs without Django, as config.env does.
"""

import config.celery  # noqa: F401
from config.settings.admin import *  # noqa: F403
from config.settings.base import *  # noqa: F403
from config.settings.baton import *  # noqa: F403
from config.settings.celery import *  # noqa: F403
from config.settings.database import *  # noqa: F403
from config.settings.i18n import *  # noqa: F403
from config.settings.logging import *  # noqa: F403
from config.settings.mail import *  # noqa: F403
from config.settings.security import *  # noqa: F403

from config.settings.samples import *  # noqa: F403  # isort: skip - last: what the samples say counts
