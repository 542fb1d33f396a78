"""The catalogue, by station of a message's way."""

from tests.blame.faults import broker
from tests.blame.faults import consumers
from tests.blame.faults import database
from tests.blame.faults import exports
from tests.blame.faults import mail
from tests.blame.faults import pairs
from tests.blame.faults import people
from tests.blame.faults import producer
from tests.blame.faults import relay
from tests.blame.faults import workers

__all__ = ["broker", "consumers", "database", "exports", "mail", "pairs", "people", "producer", "relay", "workers"]
