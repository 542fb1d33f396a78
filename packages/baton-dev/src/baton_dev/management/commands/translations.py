"""Keep the Japanese catalogues in step with the code."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from baton_dev.translations import SOURCES, faults, update


class Command(BaseCommand):
    help = "Adds new texts to the catalogues, drops unused ones and compiles; exits 1 while a translation is missing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="Change nothing, only tell what is wrong.")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        found = []
        for locale in SOURCES:
            if not check:
                update(locale)
            found += [f"{locale}: {fault}" for fault in faults(locale)]
        if found:
            raise CommandError("\n".join(found))
        self.stdout.write("All texts are translated.")
