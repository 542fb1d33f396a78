"""The messaging app."""

from django.apps import AppConfig


class MessagingConfig(AppConfig):
    """Outbox, relay, consumers, inbox, retries, dead letters."""

    name = "messaging"
    verbose_name = "Messaging"
