"""The messaging app."""

from django.apps import AppConfig


class MessagingConfig(AppConfig):
    """Outbox, relay, consumers, inbox, retries, dead letters."""

    name = "messaging"
    verbose_name = "Messaging"

    def ready(self) -> None:
        """Register the system checks, and what the worker's main process notes."""
        from messaging import checks  # noqa: F401, PLC0415 - importing registers them; models must be there first
        from messaging.worker import notes  # noqa: F401, PLC0415
