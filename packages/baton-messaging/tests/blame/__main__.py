"""``make blame``: inject every fault of the catalogue into a running system, ask whose it is, print the table.

    python -m tests.blame [--broker redis|rabbitmq] [--only WORD]

Exit code 1 if any answer is wrong or late. It starts servers of its own, in a folder of its own.
"""

import argparse
import os
import secrets
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from baton_dev.servers.embedded import Postgres, Valkey
from baton_dev.testing.rabbitmq import RabbitMQ, is_installed


def main() -> int:
    """Run the catalogue on each broker."""
    parser = argparse.ArgumentParser(prog="python -m tests.blame", description="Inject faults, and ask whose they are.")
    parser.add_argument("--broker", choices=["redis", "rabbitmq"], help="only this one")
    parser.add_argument("--only", default="", help="only faults with this word in their name")
    parser.add_argument("--skip", type=int, default=0, help="begin after so many faults")
    options = parser.parse_args()
    if options.broker:
        return examine_all(options.broker, options.only, options.skip)
    brokers = ["redis", *(["rabbitmq"] if is_installed() else [])]
    codes = [os.waitstatus_to_exitcode(_run_apart(broker, options.only)) for broker in brokers]
    return max(codes)


def _run_apart(broker: str, only: str) -> int:
    """Run one broker in a process of its own: Celery and Django are set up for one."""
    pid = os.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "tests.blame", "--broker", broker, "--only", only])
    return os.waitpid(pid, 0)[1]


def examine_all(broker: str, only: str, skip: int) -> int:
    """Start the servers and the system, examine each fault, print the table."""
    with ExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="baton-blame-")))
        database = Postgres(folder, durable=False)
        server = Valkey(folder) if broker == "redis" else RabbitMQ(folder)
        closing.callback(database.destroy)
        for service in (database, server):
            closing.callback(service.stop)
        if isinstance(server, RabbitMQ):
            server.launch()  # it takes its time, in which the database can be made
        _set_up(folder, database.start(), server.start() if isinstance(server, Valkey) else server.url)
        server.start()

        from tests.blame.run import run

        return run(folder, database, server, only=only, skip=skip)


def _set_up(folder: Path, database_url: str, broker_url: str) -> None:
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "tests.blame.settings",
        "DJANGO_DEBUG": "1",
        "DJANGO_SECRET_KEY": secrets.token_urlsafe(50),
        "BATON_STATE_DIR": str(folder),
        "DATABASE_URL": database_url,
        "CELERY_BROKER_URL": broker_url,
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)


if __name__ == "__main__":
    sys.exit(main())
