"""What the doctor asks the broker itself, on both brokers."""

from typing import Any

import kombu
import pytest
from baton_messaging.diagnosis.doctor.queues import examine_declarations
from baton_messaging.diagnosis.servers.diagnose import diagnose
from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.run import run_checks
from baton_messaging.routing.queues import EXCHANGE
from celery import current_app

from tests.contract.brokers import Broker


@pytest.fixture(autouse=True)
def _ask_this_broker(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    assert current_app.conf.broker_read_url  # it is read at the first look, and is another object then
    changes: Any = current_app.conf.changes
    for name in ("broker_read_url", "broker_write_url", "broker_transport_options"):
        monkeypatch.setitem(changes, name, broker.app.conf[name])


def broker_told() -> list[Diagnosis]:
    (health,) = run_checks(["broker"], deadline_seconds=5)
    return list(diagnose(health))


def test_the_broker_and_its_version_are_named(broker: Broker) -> None:
    line = broker_told()[0]
    assert (str(line.what), line.status) == ("broker", Status.OK)
    assert ("Valkey" if broker.is_valkey else "RabbitMQ 3.") in str(line.found)


def test_an_old_rabbitmq_is_found(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    if broker.is_valkey:
        pytest.skip("about RabbitMQ")
    monkeypatch.setattr("baton_messaging.diagnosis.servers.broker_room.MIN_RABBITMQ", (99, 0))
    (line,) = [one for one in broker_told() if one.status is Status.FINDING]
    assert str(line.wanted) == "RabbitMQ 3.10 or newer"


def test_a_queue_that_is_declared_otherwise_is_found_and_a_missing_one_is_not_made(broker: Broker) -> None:
    if broker.is_valkey:
        assert list(examine_declarations()) == []  # Redis knows no arguments
        return
    with broker.app.connection_for_write() as connection:
        channel: Any = connection.default_channel
        for name in ("mails", "parcels"):  # other tests of this node use them, too
            channel.queue_delete(name)
        kombu.Queue("mails", EXCHANGE, routing_key="mails").bind(channel).declare()
        try:
            (line,) = examine_declarations()
            with pytest.raises(connection.channel_errors):
                channel.queue_declare("parcels", passive=True)
        finally:
            connection.channel().queue_delete("mails")
    assert (line.what, line.status) == ("declaration of mails", Status.FINDING)
    assert line.command == "python manage.py migrate_queue mails"
