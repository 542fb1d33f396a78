"""``manage.py reconcile``: what beat does every minute, by hand."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from baton_messaging.management.command import BaseCommand
from baton_messaging.recovery.reconciler import Outcome, reconcile

NOT_KNOWN = 2


class Command(BaseCommand):
    help = (
        "Send again what the broker has lost, and report rows that contradict the messages. "
        "Exit code: 0 done, 2 the broker did not answer, so nothing was sent."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="change nothing, only tell")
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        outcome = reconcile(dry_run=dry_run)
        if options["format"] == "json":
            self.stdout.write(json.dumps(outcome.as_dict(), indent=1))
        else:
            self._tell(outcome, verb="would be sent" if dry_run else "sent")
        if outcome.broker_error:
            text = f"The broker does not answer ({outcome.broker_error}). Nothing was sent; run it again when it does."
            raise CommandError(text, returncode=NOT_KNOWN)

    def _tell(self, outcome: Outcome, *, verb: str) -> None:
        self.stdout.write(f"{outcome.settled_count} messages newly settled.")
        for consumer, count in outcome.lost.items():
            self.stdout.write(f"{consumer}: {count} lost by the broker, {verb} again.")
        if not outcome.lost and not outcome.broker_error:
            self.stdout.write("Nothing is lost.")
        for finding in outcome.findings:
            self.stdout.write(f"{finding.what}: {finding.found}. {finding.owner}: {finding.remedy}")
