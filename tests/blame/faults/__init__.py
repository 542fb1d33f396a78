"""The catalogue of the shop, by what the fault befalls."""

from tests.blame.faults import contradictions, exports, mail, mail_servers, orders

__all__ = ["contradictions", "exports", "mail", "mail_servers", "orders"]
