"""A run with a Procfile of its own and short pauses: `python -m dummy_run PROCFILE`, in this folder."""

import sys
from pathlib import Path

from baton_dev.environment import complete_environment
from baton_dev.project import environment
from baton_dev.run import attend, errors_in_one_line
from baton_dev.supervisor import configuration, supervisor

configuration.SETTLED_SECONDS = 1
configuration.QUICK_RETRIES = 1
supervisor.RETRY_SECONDS = 1

if __name__ == "__main__":
    complete_environment()
    from baton_dev.stack import Stack

    with errors_in_one_line():
        sys.exit(attend(Stack(environment(), procfile=Path(sys.argv[1]), set_up=())))
