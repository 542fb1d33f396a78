"""A run with a Procfile of its own and short pauses: `python -m tests.config.local.dummy_run PROCFILE`."""

import sys
from pathlib import Path

from config.local import supervise, supervisord_conf
from config.local.environment import complete_environment
from config.local.run import attend, errors_in_one_line

supervisord_conf.SETTLED_SECONDS = 1
supervisord_conf.QUICK_RETRIES = 1
supervise.RETRY_SECONDS = 1

if __name__ == "__main__":
    complete_environment()
    from config.env import env
    from config.local.stack import Stack

    with errors_in_one_line():
        sys.exit(attend(Stack(env, procfile=Path(sys.argv[1]), set_up=())))
