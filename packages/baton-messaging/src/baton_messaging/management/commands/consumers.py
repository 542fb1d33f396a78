"""``manage.py consumers list|pause|resume``: who consumes what, and the kill switch."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from baton_messaging.audit.actors import Actor
from baton_messaging.audit.errors import OperationRefused
from baton_messaging.flow_control.listing import listing
from baton_messaging.flow_control.pauses import Target, pause, resume
from baton_messaging.management.command import BaseCommand


class Command(BaseCommand):
    help = "List the consumers and what holds them; pause or resume one consumer, or one key of one event, live."

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        shown = commands.add_parser("list", help="each consumer, its owner, and whether it is held")
        shown.add_argument("--format", choices=["text", "json"], default="text")
        for name, text in (("pause", "hold messages back; they wait in the database"), ("resume", "let them go on")):
            command = commands.add_parser(name, help=text)
            command.add_argument("consumer", nargs="?", default="", help="as in notifications.send_order_received")
            command.add_argument("--event", default="", help="instead of a consumer: an event, with --key")
            command.add_argument("--key", default="", help="the id of the order (or other aggregate) to hold back")
            command.add_argument("--why", default="", required=name == "pause", help="for the audit")

    def handle(self, *args: Any, command: str, **options: Any) -> None:
        if command == "list":
            self._list(options["format"])
            return
        target = Target(consumer=options["consumer"], event_name=options["event"], key=options["key"])
        try:
            if command == "pause":
                pause(target, actor=Actor.of_shell(), why=options["why"])
            else:
                resume(target, actor=Actor.of_shell(), why=options["why"])
        except OperationRefused as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{target}: {'paused' if command == 'pause' else 'resumed'}")

    def _list(self, form: str) -> None:
        lines = listing()
        if form == "json":
            self.stdout.write(json.dumps([line.as_dict() for line in lines], indent=1))
            return
        width = max((len(line.name) for line in lines), default=0)
        for line in lines:
            waiting = f", {line.waiting_count} waiting" if line.waiting_count else ""
            self.stdout.write(f"{line.name:<{width}}  {line.state}{waiting}  {line.detail}".rstrip())
