"""The catalogue, by station of a message's way."""

from tests.blame.faults import broker, consumers, database, exports, mail, pairs, people, producer, relay, workers

__all__ = ["broker", "consumers", "database", "exports", "mail", "pairs", "people", "producer", "relay", "workers"]
