"""An error is classified by what the server said, whatever wraps it."""

import errno
import os
import smtplib
import socket
import ssl

import amqp.exceptions
import kombu.exceptions
import psycopg
import pytest
import redis.exceptions
from baton_messaging.broker.rabbitmq.transport import BrokerBlocked
from baton_messaging.database import errors as database_errors
from baton_messaging.health.answers import NoAnswer, StoodStill
from baton_messaging.health.condition import Condition
from baton_messaging.health.refusals import classify, of_server
from baton_messaging.health.server_codes import (
    AWAY,
    DIFFERENT,
    FULL,
    NOT_PERMITTED,
    READ_ONLY,
    REFUSES,
    SQLSTATES,
)
from django.db import DatabaseError, OperationalError, connection
from redis._parsers.base import BaseParser


@pytest.mark.parametrize(
    ("reply", "condition"),
    [
        ("READONLY You can't write against a read only replica.", READ_ONLY),
        ("MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist", REFUSES),
        ("MISCONF Errors writing to the AOF file: No space left on device", FULL),
        ("NOREPLICAS Not enough good replicas to write.", REFUSES),
        ("OOM command not allowed when used memory > 'maxmemory'.", FULL),
        ("LOADING Redis is loading the dataset in memory", REFUSES),
        ("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", READ_ONLY),
        ("NOPERM User app has no permissions to run the 'lpush' command", NOT_PERMITTED),
        ("NOAUTH Authentication required.", NOT_PERMITTED),
        ("WRONGPASS invalid username-password pair or user is disabled.", NOT_PERMITTED),
        ("DENIED Redis is running in protected mode", NOT_PERMITTED),
        ("CLUSTERDOWN Hash slot not served", REFUSES),
        ("BUSY Redis is busy running a script.", REFUSES),
        ("ERR max number of clients reached", FULL),
        ("EXECABORT Transaction discarded because of: OOM command not allowed", FULL),
        ("EXECABORT Transaction discarded because of previous errors.", REFUSES),
        ("ERR DB index is out of range", DIFFERENT),
    ],
)
def test_redis_is_quoted_with_the_word_that_its_client_cuts_off(reply: str, condition: Condition) -> None:
    refusal = classify(BaseParser.parse_error(reply))  # type: ignore[no-untyped-call]

    assert (refusal.condition, refusal.said.removeprefix("ERR ")) == (condition, reply.removeprefix("ERR "))


@pytest.mark.parametrize(
    ("error", "condition"),
    [
        (amqp.exceptions.AccessRefused("ACCESS_REFUSED - write access refused for user 'x'"), NOT_PERMITTED),
        (amqp.exceptions.NotFound("NOT_FOUND - no queue 'x' in vhost '/'"), DIFFERENT),
        (amqp.exceptions.NotFound("NOT_FOUND - home node of durable queue is down"), REFUSES),
        (amqp.exceptions.PreconditionFailed("inequivalent arg 'x-queue-type'"), DIFFERENT),
        (amqp.exceptions.PreconditionFailed("cannot declare: queue limit in vhost is reached"), FULL),
        (amqp.exceptions.ConnectionForced("CONNECTION_FORCED - broker forced connection closure"), AWAY),
        (amqp.exceptions.NotAllowed("NOT_ALLOWED - vhost other not found"), DIFFERENT),
        (amqp.exceptions.NotAllowed("access to vhost '/' refused for user 'x'"), NOT_PERMITTED),
        (amqp.exceptions.NotAllowed("vhost '/': connection limit (1) is reached"), FULL),
        (amqp.exceptions.NotAllowed("access to vhost '/' refused for user 'x': connection limit (1) is reached"), FULL),
        (amqp.exceptions.InternalError("access to vhost '/' refused: vhost '/' is down"), REFUSES),
        (amqp.exceptions.ResourceError("RESOURCE_ERROR"), FULL),
        (amqp.exceptions.RecoverableConnectionError("Socket was disconnected"), AWAY),
        (amqp.exceptions.MessageNacked(), REFUSES),
        (BrokerBlocked(), FULL),
    ],
)
def test_rabbitmq_is_told_by_its_code_and_where_that_is_not_enough_by_its_words(
    error: Exception, condition: Condition
) -> None:
    assert classify(error).condition is condition
    assert classify(error).said


@pytest.mark.parametrize(
    ("words", "condition", "by"),
    [
        ('FATAL:  password authentication failed for user "x"', NOT_PERMITTED, ""),
        ('FATAL:  database "gone" does not exist', DIFFERENT, ""),
        ("FATAL:  sorry, too many clients already", FULL, ""),
        ("FATAL:  remaining connection slots are reserved for roles with the SUPERUSER", FULL, ""),
        ("FATAL:  the database system is starting up", REFUSES, ""),
        ("session is read-only", READ_ONLY, ""),
        ("Connection refused\n\tIs the server running on that host?", AWAY, ""),
        ("timeout expired", AWAY, ""),
        ("FATAL:  no more connections allowed (max_client_conn)", FULL, "PgBouncer"),
        ("FATAL:  query_wait_timeout", FULL, "PgBouncer"),
        ("FATAL:  unsupported startup parameter: search_path", DIFFERENT, "PgBouncer"),
        ("FATAL:  server login has been failing, cached error: connect failed", AWAY, "PgBouncer"),
    ],
)
def test_refused_connection_is_told_by_its_words_and_a_pool_from_the_database(
    words: str, condition: Condition, by: str
) -> None:
    error = OperationalError("connection failed")
    error.__cause__ = psycopg.OperationalError(f'connection to server at "db", port 5432 failed: {words}')

    refusal = classify(error)

    assert (refusal.condition, refusal.by) == (condition, by)
    assert words.splitlines()[0] in refusal.said


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("statement", "condition", "said"),
    [
        ("SELECT * FROM never_made", DIFFERENT, 'relation "never_made" does not exist (42P01)'),
        (
            "SET TRANSACTION READ ONLY; CREATE TABLE t()",
            READ_ONLY,
            "cannot execute CREATE TABLE in a read-only transaction (25006)",
        ),
        ("SELECT pg_sleep(9)", REFUSES, "canceling statement due to statement timeout (57014)"),
        ("SELECT 1 / 0", Condition.NOT_KNOWN, "DataError: division by zero"),
    ],
)
def test_statement_is_told_by_the_databases_code(statement: str, condition: Condition, said: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 100")
        with pytest.raises(DatabaseError) as raised:
            cursor.execute(statement)

    refusal = classify(raised.value)

    assert (refusal.condition, refusal.said.splitlines()[0]) == (condition, said)


@pytest.mark.parametrize(
    ("error", "condition", "said"),
    [
        (smtplib.SMTPConnectError(421, b"too busy"), REFUSES, "421 too busy"),
        (smtplib.SMTPAuthenticationError(535, b"5.7.8 no ann@a.example"), NOT_PERMITTED, "535 5.7.8 no …@a.example"),
        (smtplib.SMTPRecipientsRefused({"ann@example.com": (452, b"mailbox full")}), FULL, "452 mailbox full"),
        (smtplib.SMTPServerDisconnected("Connection closed"), AWAY, "Connection closed"),
        (smtplib.SMTPNotSupportedError("STARTTLS not supported"), DIFFERENT, "STARTTLS not supported"),
        (socket.gaierror(socket.EAI_NONAME, "Name not known"), AWAY, "Name not known (DNS)"),
        (TimeoutError("timed out"), AWAY, "timed out"),
        (NoAnswer(2), AWAY, "no answer within 2 s"),
        (StoodStill(40), Condition.NOT_KNOWN, "StoodStill: this machine or process stood still for 40 s"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/srv/x"), FULL, "No space left on device: /srv/x"),
        (OSError(errno.EROFS, os.strerror(errno.EROFS)), READ_ONLY, "Read-only file system"),
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), FULL, "Too many open files"),
        (OSError(errno.EACCES, os.strerror(errno.EACCES)), NOT_PERMITTED, "Permission denied"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), AWAY, "Connection refused"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), AWAY, "No route to host"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number"), DIFFERENT, None),
        (redis.exceptions.ConnectionError("Error 111 connecting to cache:6379. Refused."), AWAY, None),
        (redis.exceptions.TimeoutError("Timeout reading from cache:6379"), AWAY, None),
        (ValueError("postgres://app:hunter2@db/shop"), Condition.NOT_KNOWN, "ValueError: postgres://…@db/shop"),
    ],
)  # fmt: skip
def test_other_errors_are_told_by_code(error: Exception, condition: Condition, said: str | None) -> None:
    refusal = classify(error)

    assert refusal.condition is condition
    assert said in (None, refusal.said)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
        redis.exceptions.ConnectionError("Error 24 connecting to cache:6379. Too many open files."),
        psycopg.OperationalError("connection failed: could not create socket: Too many open files"),
    ],
)
def test_what_the_asking_process_is_short_of_says_nothing_of_the_server(error: Exception) -> None:
    assert (classify(error).condition, classify(error).by) == (FULL, "this process")
    assert of_server(error).condition is Condition.NOT_KNOWN


def test_what_has_wrapped_an_error_does_not_hide_it() -> None:
    try:
        try:
            raise redis.exceptions.ReadOnlyError("You can't write", status_code="READONLY")
        except redis.exceptions.RedisError as error:
            raise kombu.exceptions.OperationalError(str(error)) from error
    except kombu.exceptions.OperationalError as error:
        wrapped = error

    assert classify(wrapped).said == "READONLY You can't write"


def test_all_that_the_messaging_takes_for_away_stops_work() -> None:
    for sqlstate in database_errors._AWAY:
        condition = SQLSTATES.get(sqlstate) or SQLSTATES[sqlstate[:2]]
        assert condition in (AWAY, REFUSES, FULL)
