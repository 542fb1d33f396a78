"""``manage.py alive ROLE [NAME]``: the liveness probe of Kubernetes, systemd and the like."""

import sys
from typing import Any

from django.core.management.base import CommandParser
from django.db import DatabaseError

from baton_messaging.health.refusals import classify
from baton_messaging.management.command import BaseCommand
from baton_messaging.models.heartbeat import Role
from baton_messaging.processes.liveness import life_of

DEAD = 1


class Command(BaseCommand):
    help = (
        "Tell whether a process of this host is alive. Exit code: 0 alive, or the database cannot be asked (restarting "
        "the process would not heal that); 1 dead, with the reason in one line."
    )
    requires_system_checks = ()  # a probe comes by every few seconds

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("role", choices=Role.values)
        parser.add_argument("name", nargs="?", default="", help="of a worker: as after -n, with or without @host")

    def handle(self, *args: Any, role: str, name: str, **options: Any) -> None:
        try:
            life = life_of(role, name)
        except DatabaseError as error:
            self.stdout.write(f"Cannot tell: the database does not answer ({classify(error).said}).")
            return
        self.stdout.write(f"{life.why}.")
        if not life.is_alive:
            sys.exit(DEAD)
