"""Queues and their owners."""

from baton_messaging.conf import Queue, Team

PLATFORM = Team("Platform team", "platform@example.org")
BILLING = Team("Billing team", "billing@example.org")

QUEUES = (Queue("baton", owner=PLATFORM), Queue("invoices", owner=BILLING))
