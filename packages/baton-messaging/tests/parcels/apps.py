"""The app's configuration."""

from django.apps import AppConfig


class ParcelsConfig(AppConfig):
    name = "tests.parcels"
    label = "parcels"

    def ready(self) -> None:
        """Connect the receivers."""
        from tests.parcels import receivers  # noqa: F401
