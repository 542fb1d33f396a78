"""The catalogue, by station of a message's way; then what is forgotten, refuses, or is wired to something else."""

from tests.blame.faults import (
    broker,
    consumers,
    database,
    forgotten,
    pairs,
    people,
    producer,
    refusals,
    relay,
    wiring,
    workers,
)

__all__ = [
    "broker",
    "consumers",
    "database",
    "forgotten",
    "pairs",
    "people",
    "producer",
    "refusals",
    "relay",
    "wiring",
    "workers",
]
