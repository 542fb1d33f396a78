"""Ask something of the installation each time ``manage.py doctor`` runs: for an app's ``doctor.py``.

    @examines("label printer")
    def examine_printer() -> Iterator[Observation]:
        yield observed(is_there, "label printer", found="…", wanted="…", remedy="Switch it on.",
                     owner=str(owner_of("shipping.print_label")))

*Shapes*. ``Observation``: one question with what was found, what is wanted, and, unless its status is ``ok``, the
remedy and its owner ("Team <address>"). ``observed`` makes one: ``ok`` or ``finding``. Without ``owner`` it is the
platform's.

*Units*. ``deadline_seconds``: 2 by default, because the doctor is asked while something is broken and asks everything
at the same time. ``needs``: ``("database",)`` or ``("broker",)``: not asked while that does not answer.

*Raises*. An examination may raise: that leaves its own question open (status ``unknown``) and no other.

*Hazard*. It runs in a thread of its own, so it has a database connection of its own, and what takes longer than its
deadline goes on until the process ends.
"""

from baton_messaging.diagnosis.doctor.examination import DEADLINE_SECONDS, Observation, Status, examines, observed

__all__ = ["DEADLINE_SECONDS", "Observation", "Status", "examines", "observed"]
