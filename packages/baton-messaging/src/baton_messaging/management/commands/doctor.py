"""``manage.py doctor``: what is wrong with the installation, and what to do."""

import sys
from typing import Any

from django.core.management.base import CommandParser

from baton_messaging.diagnosis.doctor.examine import examine_all
from baton_messaging.diagnosis.rendering import as_json, as_text, is_healthy
from baton_messaging.management.command import BaseCommand
from baton_messaging.ui.terminal.tables import width_of


class Command(BaseCommand):
    help = (
        "Examine database, broker, queues, processes, limits, sizes and what the apps depend on. "
        "Exit code: 0 all is well, 1 something is to be mended or did not answer."
    )
    requires_system_checks = ()  # they are one of the questions, and must not keep the others from being asked

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        diagnoses = examine_all()
        if options["format"] == "json":
            self.stdout.write(as_json(diagnoses))
        else:
            self.stdout.write(as_text(diagnoses, width=width_of(self.stdout)))
        if not is_healthy(diagnoses):
            sys.exit(1)
