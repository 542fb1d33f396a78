"""The Django app of Baton's machinery."""

from django.apps import AppConfig
from django.db.models.signals import pre_migrate
from django.utils.translation import gettext_lazy as _


class BatonMessagingConfig(AppConfig):
    """Outbox, relay, consumers, inbox, retries, dead letters."""

    name = "baton_messaging"
    verbose_name = _("Messaging")
    default_auto_field = "django.db.models.BigAutoField"  # as in the migrations, whatever the project's own default is

    def ready(self) -> None:
        """Register checks and receivers: importing does, and models must be there first."""
        from baton_messaging import checks  # noqa: F401, PLC0415
        from baton_messaging.dead_letters import alerts  # noqa: F401, PLC0415
        from baton_messaging.maintenance.old_database import refuse_old_database  # noqa: PLC0415
        from baton_messaging.worker import expiries, interruptions, results  # noqa: F401, PLC0415

        pre_migrate.connect(refuse_old_database, sender=self, dispatch_uid="baton_messaging.refuse_old_database")
