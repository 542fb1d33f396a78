"""The selection of PostgreSQL and broker for a local run: the ones that the environment names, or its own."""

from collections.abc import Iterable

from baton_dev.project import Environment, reachability
from baton_dev.servers.embedded import Postgres, Valkey
from baton_dev.servers.service import Service

VARIABLES = {Postgres.name: "DATABASE_URL", Valkey.name: "CELERY_BROKER_URL"}


def embedded_services(env: Environment) -> tuple[Service, ...]:
    """Return the services to start: those for which no URL is set."""
    services = (
        Postgres(env.BATON_STATE_DIR, port=env.POSTGRES_PORT),
        Valkey(env.BATON_STATE_DIR, port=env.VALKEY_PORT),
    )
    return tuple(service for service in services if VARIABLES[service.name] not in env.model_fields_set)


def service_urls(services: Iterable[Service]) -> dict[str, str]:
    """Return the variables that lead to these services. They must have been prepared, now or in an earlier run."""
    return {VARIABLES[service.name]: service.url for service in services}


def check_named_servers(env: Environment) -> None:
    """Raise ConnectionError when a server that the environment names does not answer."""
    if "DATABASE_URL" in env.model_fields_set:
        reachability().check_database(env.DATABASE_URL)
    if "CELERY_BROKER_URL" in env.model_fields_set:
        reachability().check_broker(env.CELERY_BROKER_URL)
