import ssl
from typing import Any

import kombu
import pytest
from baton_messaging.broker.options import BadTransportOptions, BrokerSettings, broker_settings, check
from baton_messaging.broker.rabbitmq import transport
from baton_messaging.broker.redis import transport as redis_transport
from baton_messaging.broker.transports import install


def settings(url: str) -> BrokerSettings:
    return broker_settings(url, exchange="tasks", queues=["sample"], dead_letter_queue="dead_letters", delivery_limit=3)


def connect(url: str) -> kombu.Connection:
    install()
    found = settings(url)
    return kombu.Connection(found.url, transport_options=found.transport_options, ssl=found.use_ssl or False)


@pytest.mark.parametrize(
    ("url", "transport"),
    [
        ("redis://localhost:6379/0", redis_transport.Transport),
        ("redis+socket:///tmp/redis.sock", redis_transport.Transport),
        ("rediss://user:secret@example.com/1", redis_transport.Transport),
        ("sentinel://one:26379;sentinel://two:26379/0?master_name=baton", redis_transport.SentinelTransport),
        ("amqp://guest:guest@localhost//", transport.Transport),
        ("amqps://user:secret@example.com/vhost", transport.SSLTransport),
        ("redis://one:6379/0;redis://two:6379/0", redis_transport.Transport),
    ],
)
def test_url_as_users_write_it_gets_our_transport(url: str, transport: type) -> None:
    assert type(connect(url).transport) is transport


def test_connection_that_fails_over_keeps_our_transport() -> None:
    connection = connect("redis://one:6379/0;redis://two:6379/0")

    connection.maybe_switch_next()

    assert connection.hostname == "two"
    assert type(connection.transport) is redis_transport.Transport


def test_certificate_is_checked_unless_the_url_says_otherwise() -> None:
    assert connect("rediss://example.com/0").ssl == {"ssl_cert_reqs": ssl.CERT_REQUIRED}
    assert connect("rediss://example.com/0?ssl_cert_reqs=none").ssl == {"ssl_cert_reqs": ssl.CERT_NONE}
    assert settings("amqps://example.com//").use_ssl == {"cert_reqs": ssl.CERT_REQUIRED, "server_hostname": None}
    assert settings("redis://example.com/0").use_ssl is None


def test_master_name_is_taken_out_of_the_url() -> None:
    found = settings("sentinel://one:26379;sentinel://two:26379/0?master_name=baton")

    assert found.url == "sentinel://one:26379;sentinel://two:26379/0"
    assert found.transport_options["master_name"] == "baton"


def test_password_with_special_characters_survives() -> None:
    connection = connect("redis://:p%40ss%2Fword@example.com:6379/3")

    assert connection.password == "p@ss/word"
    assert connection.virtual_host == "3"


def test_rabbitmq_confirms_what_is_published() -> None:
    assert settings("amqp://localhost//").transport_options == {"confirm_publish": True}


@pytest.mark.parametrize(
    "options", [{"lease_renewal_seconds": 11}, {"visibility_timeout": 10}, {"lease_renewal_seconds": 0}]
)
def test_options_that_would_run_tasks_twice_are_refused(options: dict[str, Any]) -> None:
    shipped = settings("redis://localhost/0").transport_options
    check(shipped)

    with pytest.raises(BadTransportOptions, match="lease_renewal_seconds"):
        check({**shipped, **options})


def test_lease_outlives_renewals_that_are_missed_and_a_dead_connection() -> None:
    shipped = settings("redis://localhost/0").transport_options

    assert shipped["lease_renewal_seconds"] * 3 + shipped["socket_timeout"] < shipped["visibility_timeout"]
    # A killed worker's messages: at most the lease and one round of restoring later.
    assert shipped["visibility_timeout"] + shipped["unacked_restore_interval"] <= 40
