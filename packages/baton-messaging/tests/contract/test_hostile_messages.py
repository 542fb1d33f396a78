"""Hostile messages on RabbitMQ: what tests/dead_letters/intake/test_hostile_messages.py shows on Valkey.

RabbitMQ's own: tables of headers, which its client decodes before anybody else can look at them.
"""

from struct import pack

import amqp
from baton_dev.testing.processes import Process
from baton_dev.testing.rabbitmq import RabbitMQ

from tests.contract.on_rabbitmq import on_rabbitmq  # noqa: F401 - a fixture
from tests.dead_letters.dead_letter_queue import DEAD
from tests.dead_letters.intake.test_hostile_messages import (  # noqa: F401 - a fixture, and its marks
    QUEUE,
    all_is_well_behind_them,
    processes,
    pytestmark,
    test_hostile_messages_end_nobody_and_stop_nothing_behind_them,
)

HEADERS_ONLY = pack(">H", 1 << 13)


class WithTable(amqp.Message):  # type: ignore[misc]  # py-amqp has no types
    """A message with headers as they stand."""

    table = b""

    def _serialize_properties(self) -> bytes:
        return HEADERS_ONLY + pack(">I", len(self.table)) + self.table


def nested(levels: int) -> bytes:
    inner = b""
    for _ in range(levels):
        inner = b"\x01aF" + pack(">I", len(inner)) + inner
    return inner


TABLES = {
    "nested": nested(10_000),
    "a time after all times": b"\x01aT" + pack(">Q", 2**63),
    "bytes for a name": b"\x02\xff\xfeI" + pack(">i", 1),
}


def test_headers_that_cannot_be_decoded_end_nobody(rabbitmq: RabbitMQ, processes: dict[str, Process]) -> None:  # noqa: F811
    with amqp.Connection(f"127.0.0.1:{rabbitmq.port}") as connection:
        channel = connection.channel()
        for table in TABLES.values():
            for queue in (QUEUE, DEAD):
                message = WithTable("[[[]], {}, {}]")
                message.table = table
                channel.basic_publish(message, routing_key=queue)
    all_is_well_behind_them(processes)
