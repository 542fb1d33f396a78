"""What counts as an outage of the database, and what as somebody's fault."""

from uuid import uuid4

import pytest
from baton_dev.testing.failover import READ_ONLY, new_connections
from baton_messaging.database.errors import (
    MessagingStatementRefused,
    is_database_away,
    is_database_there,
    is_database_trouble,
    is_passing,
    messaging_statements,
    takes_writes,
)
from django.db import DatabaseError, connection, transaction
from django.db.utils import InternalError

from tests.sample.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def write() -> None:
    Effect.objects.create(sample_id=uuid4(), consumer="take_one")


def test_a_server_that_takes_no_writes_is_away() -> None:
    with new_connections(READ_ONLY):
        with pytest.raises(InternalError) as raised:
            write()
        assert is_database_away(raised.value)
        assert not takes_writes()
        assert not is_database_there()
    assert is_database_there()


def test_a_refusal_of_a_standby_is_no_fault_of_the_handlers_once_the_failover_is_over() -> None:
    with new_connections(READ_ONLY):
        with pytest.raises(MessagingStatementRefused) as raised, messaging_statements():
            write()
        assert is_passing(raised.value)
    assert takes_writes()
    assert is_passing(raised.value)
    assert is_database_trouble(raised.value)


def test_a_transaction_that_a_handler_made_read_only_is_the_handlers_fault() -> None:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        with pytest.raises(InternalError) as raised:
            write()
        transaction.set_rollback(True)
    assert not is_passing(raised.value)
    assert takes_writes()


def test_a_statement_that_took_too_long_is_no_outage_and_passes() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 50")
        with pytest.raises(DatabaseError) as raised:
            cursor.execute("SELECT pg_sleep(60)")
        transaction.set_rollback(True)
    assert not is_database_away(raised.value)
    assert is_passing(raised.value)


def test_what_comes_after_the_connection_of_a_transaction_was_lost_is_an_outage() -> None:
    @transaction.atomic
    def write_after_the_loss() -> None:
        connection.close()
        write()

    with pytest.raises(DatabaseError, match=r"Cannot open a new connection|connection is closed") as raised:
        write_after_the_loss()
    assert is_database_away(raised.value)
