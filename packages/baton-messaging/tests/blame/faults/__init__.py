"""The catalogue, by station of a message's way; then what servers, wiring and memory do to all stations."""

from tests.blame.faults import (
    broker,
    consumers,
    database,
    database_causes,
    forgotten,
    keys_of_valkey,
    pairs,
    people,
    producer,
    refusals,
    refusals_of_rabbitmq,
    refusals_of_valkey,
    relay,
    wiring,
    workers,
)

__all__ = [
    "broker",
    "consumers",
    "database",
    "database_causes",
    "forgotten",
    "keys_of_valkey",
    "pairs",
    "people",
    "producer",
    "refusals",
    "refusals_of_rabbitmq",
    "refusals_of_valkey",
    "relay",
    "wiring",
    "workers",
]
