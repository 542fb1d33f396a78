"""``manage.py baton_grants ROLE``: write the SQL that lets a role run the processes, and not rewrite the audit."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseError
from django.db import connection, transaction

from baton_messaging.database.roles import grants
from baton_messaging.management.command import BaseCommand


class Command(BaseCommand):
    help = (
        "Write the SQL that gives a database role the rights that web, workers, relay, collector and beat need, and no "
        "more: such a role cannot change or empty the audit. Run it as the owner of the tables, after migrate."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("role", help="the role of DATABASE_URL of the processes; it must exist")
        parser.add_argument("--apply", action="store_true", help="execute it, instead of writing it out")

    def handle(self, *args: Any, role: str, apply: bool, **options: Any) -> None:
        if role == connection.get_connection_params().get("user"):
            raise CommandError(
                f"Expected a role beside the owner of the tables, got {role!r}, which is connected here."
            )
        try:
            statements = grants(role)
            if apply:
                with transaction.atomic(), connection.cursor() as cursor:
                    for statement in statements:
                        cursor.execute(statement)
        except DatabaseError as error:
            raise CommandError(str(error).strip()) from error
        if not apply:
            self.stdout.write("".join(f"{statement};\n" for statement in statements), ending="")
