"""``manage.py backlog_check``: a gate for a pipeline. Could the code at hand run all that waits?"""

import json
import sys
from typing import Any

from celery import current_app
from django.core.management.base import CommandError, CommandParser

from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.maintenance.backlog import Backlog, look_at_database, look_at_queue
from baton_messaging.management.command import BaseCommand
from baton_messaging.routing.queues import DEAD_LETTER_QUEUE

NOT_RUNNABLE, NOT_KNOWN = 1, 2


class Command(BaseCommand):
    help = (
        "Look at what waits in the outbox, the retries, the broker's queues and the requested dead letters, with the "
        "code at hand. Exit code: 0 all of it can be run, 1 some cannot, 2 the broker did not answer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", choices=["text", "json"], default="text")
        parser.add_argument("--limit", type=int, default=10_000, help="messages looked at per queue (10000)")

    def handle(self, *args: Any, limit: int, **options: Any) -> None:
        backlog = Backlog()
        look_at_database(backlog)
        try:
            with current_app.connection_for_read() as broker:
                for queue in sorted(set(current_app.amqp.queues) - {DEAD_LETTER_QUEUE}):
                    look_at_queue(backlog, queue, broker, limit=limit)
        except BROKER_ERRORS as error:
            raise CommandError(f"The broker does not answer: {type(error).__name__}.", returncode=NOT_KNOWN) from error
        if options["format"] == "json":
            self.stdout.write(json.dumps(backlog.as_dict(), indent=1))
        else:
            self._tell(backlog)
        if backlog.findings:
            sys.exit(NOT_RUNNABLE)

    def _tell(self, backlog: Backlog) -> None:
        for where, count in backlog.looked_at.items():
            self.stdout.write(f"{where}: {count}")
        for queue in backlog.cut_short:
            self.stdout.write(f"queue {queue} holds more than were looked at: raise --limit")
        for finding in backlog.findings:
            self.stdout.write(f"CANNOT RUN  {finding.where}: {finding.count} of {finding.problem} {finding.what}")
