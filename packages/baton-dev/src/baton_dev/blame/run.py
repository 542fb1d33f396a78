"""One run of a suite: starts servers and system, examines each fault of the catalogue, prints the table.

    python -m baton_dev.blame.run redis|rabbitmq STATE_DIR --report FILE [--only WORD] [--skip N] [--patience N]

In the folder of the suite. The report is how many answers were right and how many there were. Exit code 0 if the run
came to its end, whatever the answers.
"""

import argparse
import os
import secrets
import sys
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

from baton_dev.blame import SUITE
from baton_dev.servers.embedded import Postgres, Valkey
from baton_dev.testing.rabbitmq import RabbitMQ


def main() -> None:
    """Run one suite on one broker."""
    parser = argparse.ArgumentParser(prog="python -m baton_dev.blame.run")
    parser.add_argument("broker", choices=["redis", "rabbitmq"])
    parser.add_argument("state_dir", type=Path)
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--patience", type=float, default=1.0)
    options = parser.parse_args()
    folder: Path = options.state_dir
    sys.path.insert(0, str(Path.cwd()))
    with ExitStack() as closing:
        database = Postgres(folder, durable=False)
        server = Valkey(folder) if options.broker == "redis" else RabbitMQ(folder)
        closing.callback(database.destroy)
        for service in (database, server):
            closing.callback(service.stop)
        if isinstance(server, RabbitMQ):
            server.launch()  # it takes its time, in which the database can be made
        _set_up(folder, database.start(), server.start() if isinstance(server, Valkey) else server.url)
        server.start()
        right_count, count = _examine_all(folder, database, server, options)
    options.report.write_text(f"{right_count} {count}")


def _set_up(folder: Path, database_url: str, broker_url: str) -> None:
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": f"{SUITE}.settings",
        "DJANGO_DEBUG": "1",
        "DJANGO_SECRET_KEY": secrets.token_urlsafe(50),
        "BATON_STATE_DIR": str(folder),
        "DATABASE_URL": database_url,
        "CELERY_BROKER_URL": broker_url,
    }
    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
    with connection.cursor() as cursor:  # the suite empties all tables after each fault, and owns them
        cursor.execute(f'ALTER DATABASE "{connection.settings_dict["NAME"]}" SET baton.audit_may_be_emptied = on')
    connection.close()


def _examine_all(
    folder: Path, database: Postgres, broker: Valkey | RabbitMQ, options: argparse.Namespace
) -> tuple[int, int]:
    """Return how many answers were right, and how many there were."""
    from baton_dev.blame.catalogue import faults_on
    from baton_dev.blame.client import Client
    from baton_dev.blame.examination import Result, examine, table
    from baton_dev.blame.stack import Stack

    import_module(f"{SUITE}.faults")
    stack_type: type[Stack] = import_module(f"{SUITE}.stack").STACK
    name = "rabbitmq" if isinstance(broker, RabbitMQ) else "redis"
    wanted = [fault for fault in faults_on(name) if options.only in f"{fault.room}: {fault.name}"][options.skip :]
    if not wanted:
        return 0, 0
    database_url, broker_url = os.environ["DATABASE_URL"], os.environ["CELERY_BROKER_URL"]
    results: list[Result] = []
    with stack_type(folder, database_url=database_url, broker_url=broker_url) as stack:
        stack.database_server, stack.broker_server = database, broker
        client = Client(stack)
        for number, fault in enumerate(wanted, start=1):
            results.append(examine(fault, stack, client, patience=options.patience))
            print(f"{number:>3}/{len(wanted)} {'  '.join(results[-1].row())}", flush=True)
            stack.mend()
        client.end()
    print(f"\n{Path.cwd().name} on {name}\n{table(results)}\n", flush=True)
    return sum(not result.wrong for result in results), len(results)


if __name__ == "__main__":
    main()
