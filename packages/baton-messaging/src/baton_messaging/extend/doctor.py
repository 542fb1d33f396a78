"""Ask something of the installation each time ``manage.py doctor`` runs: for an app's ``doctor.py``.

    @examines("label printer")
    def examine_printer() -> Iterator[Diagnosis]:
        yield observed(is_there, "label printer", found="…", wanted="…", remedy="Switch it on.",
                     owner=owner_of("shipping.print_label"))

*Shapes*. ``Diagnosis``: one question with what was found, what is wanted, and, unless its status is ``ok``, the remedy
and its owner, a ``Team``. ``observed`` makes one: ``ok`` or ``finding``. Without ``owner`` it is the platform's. With
``about=Resource(Kind.SERVICE, "printer")`` and ``stops_work=True`` what needs the printer stands under it.

*Units*. ``deadline_seconds``: 2 by default, because the doctor is asked while something is broken and asks everything
at the same time. ``needs``: ``("database",)`` or ``("broker",)``: not asked while that does not answer.

*Raises*. An examination may raise: that leaves its own question open (status ``unknown``) and no other.

*Hazard*. It runs in a thread of its own, so it has a database connection of its own, and what takes longer than its
deadline goes on until the process ends. Texts are shown on a page in its reader's language: ``gettext_lazy``.
"""

from baton_messaging.diagnosis.doctor.examination import DEADLINE_SECONDS, examines
from baton_messaging.health.diagnosis import Diagnosis, Status, observed
from baton_messaging.health.resource import Kind, Resource

__all__ = ["DEADLINE_SECONDS", "Diagnosis", "Kind", "Resource", "Status", "examines", "observed"]
