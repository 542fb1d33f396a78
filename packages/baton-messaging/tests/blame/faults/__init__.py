"""The catalogue, by station of a message's way."""

from tests.blame.faults import broker, consumers, database, pairs, people, producer, relay, workers

__all__ = ["broker", "consumers", "database", "pairs", "people", "producer", "relay", "workers"]
