"""A database of before 0.2.0 is refused by one sentence, and not half migrated."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from baton_messaging.maintenance.old_database import REFUSAL
from django.core.management import CommandError, call_command
from django.db import connection, connections

OLD = "old"


@contextmanager
def server() -> Iterator[psycopg.Connection[Any]]:
    """Log in to the tests' server, in a database that is always there."""
    settings = connection.settings_dict
    keys = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
    options = {name: settings[key] for name, key in keys.items()}
    with psycopg.connect(dbname="postgres", autocommit=True, **options) as logged_in:
        yield logged_in


@pytest.fixture
def old_database(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """Make an empty database; return its alias."""
    name = f"old_{uuid4().hex}"
    with server() as logged_in:
        logged_in.execute(f'CREATE DATABASE "{name}"')
    connections.databases[OLD] = {**connection.settings_dict, "NAME": name}
    with django_db_blocker.unblock():
        yield OLD
        connections[OLD].close()
    del connections[OLD], connections.databases[OLD]
    with server() as logged_in:
        logged_in.execute(f'DROP DATABASE "{name}"')


def execute(statement: str) -> None:
    with connections[OLD].cursor() as cursor:
        cursor.execute(statement)


def tables() -> list[str]:
    return connections[OLD].introspection.table_names()


def migrate(*words: str) -> None:
    call_command("migrate", *words, database=OLD, verbosity=0)


def test_it_is_refused_by_one_sentence_and_left_as_it_is(old_database: str) -> None:
    execute("CREATE TABLE messaging_outboxmessage (id bigint)")
    with pytest.raises(CommandError) as caught:
        migrate()
    assert str(caught.value) == REFUSAL
    assert "\n" not in REFUSAL
    assert tables() == ["messaging_outboxmessage"]


def test_what_creates_none_of_our_tables_is_not_refused(old_database: str) -> None:
    execute("CREATE TABLE messaging_outboxmessage (id bigint)")
    migrate("contenttypes")
    assert "django_content_type" in tables()


def test_without_the_old_tables_it_is_migrated(old_database: str) -> None:
    execute("CREATE TABLE messaging_outboxmessage (id bigint)")
    execute("DROP TABLE messaging_outboxmessage")
    migrate("baton_messaging")
    assert "baton_outbox" in tables()
