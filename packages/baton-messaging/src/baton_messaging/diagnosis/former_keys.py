"""A former key signed what is refused though all that run share one: it was changed while messages waited.

The relay signs. What a relay sent that still runs was signed with the key of today, and whoever refused it had another
one: it only has to be sent again. Where that relay is gone, nobody knows its key.
"""

from collections.abc import Iterable
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from baton_messaging.health.diagnosis import Confidence, Diagnosis, finding
from baton_messaging.health.resource import Kind, Resource


def signer_is_gone(sent_at: datetime | None, relays_since: Iterable[datetime | None]) -> bool:
    """Tell whether it was sent before every relay that runs has started."""
    return sent_at is not None and not any(since is not None and since <= sent_at for since in relays_since)


def former_key() -> Diagnosis:
    """Return why a message is taken for forged though all that run share a key. Likely only: what is forged is, too."""
    return finding(
        Resource(Kind.SETTING, "DJANGO_SECRET_KEY"),
        _("signing key"),
        found=_(
            "no process that runs accepts the key that signed it: a key was changed without a fallback, or it is forged"
        ),
        wanted=_("a former key among the fallbacks until all that it signed is done"),
        remedy=_(
            "If the key was changed, add the former one to DJANGO_SECRET_KEY_FALLBACKS of all processes, and replay: "
            "what is replayed is signed anew."
        ),
        confidence=Confidence.LIKELY,
        stops_work=True,
    )
