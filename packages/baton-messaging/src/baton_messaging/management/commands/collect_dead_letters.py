"""``manage.py collect_dead_letters``: move dead letters from the broker into the database."""

from typing import Any

from baton_messaging.dead_letters.intake.collector import Collector
from baton_messaging.management.command import BaseCommand


class Command(BaseCommand):
    help = "Move what the broker has given up on into the list of dead letters, until stopped (SIGTERM, Ctrl-C)."

    def handle(self, *args: Any, **options: Any) -> None:
        collector = Collector()
        collector.stop_on_signals()
        collector.run()
