"""The selection of PostgreSQL and broker for a local run: the ones that the environment names, or its own."""

from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from baton_dev.project import Environment, reachability
from baton_dev.servers.embedded import Postgres, Valkey
from baton_dev.servers.service import Service

VARIABLES = {Postgres.name: "DATABASE_URL", Valkey.name: "CELERY_BROKER_URL"}
OWNER_VARIABLE = "DATABASE_OWNER_URL"
#: Commands that change tables or rights: run as the role that owns the tables.
OWNER_COMMANDS = frozenset({"migrate", "baton_grants"})


def embedded_services(env: Environment) -> tuple[Service, ...]:
    """Return the services to start: those for which no URL is set."""
    services = (
        Postgres(env.BATON_STATE_DIR, port=env.POSTGRES_PORT),
        Valkey(env.BATON_STATE_DIR, port=env.VALKEY_PORT, with_password=True),
    )
    return tuple(service for service in services if VARIABLES[service.name] not in env.model_fields_set)


def service_urls(services: Iterable[Service]) -> dict[str, str]:
    """Return the variables that lead to these services. They must have been prepared, now or in an earlier run."""
    return {
        VARIABLES[service.name]: service.application_url if isinstance(service, Postgres) else service.url
        for service in services
    }


def owner_url(env: Environment, services: Iterable[Service]) -> str | None:
    """Return the URL of the role that owns the tables; None when it is the role of the processes."""
    embedded = next((service for service in services if isinstance(service, Postgres)), None)
    return embedded.url if embedded else env.DATABASE_OWNER_URL or None


def role_in(url: str) -> str:
    """Return the role that a database URL names."""
    return unquote(urlsplit(url).username or "")


def check_named_servers(env: Environment) -> None:
    """Raise ConnectionError when a server that the environment names does not answer."""
    if "DATABASE_URL" in env.model_fields_set:
        reachability().check_database(env.DATABASE_URL)
    if "CELERY_BROKER_URL" in env.model_fields_set:
        reachability().check_broker(env.CELERY_BROKER_URL)
