"""The catalogue of the shop, by what the fault befalls."""

from tests.blame.faults import exports, mail, orders

__all__ = ["exports", "mail", "orders"]
