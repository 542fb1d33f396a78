"""PostgreSQL and Valkey from wheels: what `make run` and the tests use when no other server is named.

    with Postgres(state_dir) as postgres, Valkey(state_dir) as valkey:
        ...  # postgres.url, valkey.url

Both listen on 127.0.0.1 only, keep their data below the state directory between runs, and lose nothing to kill -9.
They are meant for development and tests; a deployment names its own servers in DATABASE_URL and CELERY_BROKER_URL.
"""

import sys
from pathlib import Path

from baton_dev.servers.ports import PortTakenError
from baton_dev.servers.postgres import NOT_DURABLE, Postgres
from baton_dev.servers.service import ServiceError
from baton_dev.servers.valkey import WITH_PASSWORD, Valkey

__all__ = ["Postgres", "Valkey"]


def main(name: str, state_dir: str, *options: str) -> None:
    """Become the named server: the foreground process that a supervisor wants."""
    path = Path(state_dir)
    service = (
        Valkey(path, with_password=WITH_PASSWORD in options)
        if name == Valkey.name
        else Postgres(path, durable=NOT_DURABLE not in options)
    )
    try:
        service.run()
    except (ServiceError, PortTakenError, OSError) as error:
        sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
