"""``manage.py relay``: move messages from the outbox to the broker."""

from typing import Any

from baton_messaging.management.command import BaseCommand
from baton_messaging.messages import tracing
from baton_messaging.relaying.loop import Relay


class Command(BaseCommand):
    help = "Send what is in the outbox, and the retries that are due, to the broker, until stopped (SIGTERM, Ctrl-C)."

    def handle(self, *args: Any, **options: Any) -> None:
        relay = Relay()
        relay.stop_on_signals()
        tracing.start("relay")
        try:
            relay.run()
        finally:
            tracing.stop()
