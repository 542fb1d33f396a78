"""``manage.py migrate_queue NAME``: give a RabbitMQ queue its new arguments without losing what is in it."""

from dataclasses import replace
from typing import Any

from celery import current_app
from django.core.management.base import CommandError, CommandParser

from baton_messaging.audit.actors import Actor
from baton_messaging.broker.errors import BROKER_ERRORS
from baton_messaging.maintenance.queue_migration import VIA, MigrationRefused, migrate
from baton_messaging.management.command import BaseCommand


class Command(BaseCommand):
    help = "Give a queue of RabbitMQ the arguments that the code declares, with all that is in it. Safe to repeat."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the queue, as the start-up line names it")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        queues = current_app.amqp.queues
        if name not in queues:
            raise CommandError(f"Expected a queue of Celery's task_queues ({', '.join(sorted(queues))}), got {name!r}.")
        try:
            with current_app.connection_for_write() as broker:
                migrate(queues[name], broker, actor=replace(Actor.of_shell(), via=VIA), tell=self.stdout.write)
        except MigrationRefused as error:
            raise CommandError(str(error)) from error
        except BROKER_ERRORS as error:
            text = f"{type(error).__name__}: {error}. Nothing is lost: run the command again."
            raise CommandError(text) from error
