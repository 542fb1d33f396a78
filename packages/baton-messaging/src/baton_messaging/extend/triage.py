"""Say what an id means, so that triage can answer for it: for an app's ``triage.py``.

    register(SubjectKind(name="order", label=_("order"), first_event="orders.order_placed", queue="orders",
                         find=find_orders, unsettled=unsettled_orders))

*Shapes*. ``SubjectKind``: one kind of business row whose id (as text) is the ``key`` of messages.
``find(keys) -> {key: Subject}`` leaves out keys without such a row, and is given keys of other kinds, too: of those
that are no UUIDs ``uuids_in`` makes none. ``unsettled(before, limit) -> keys`` lists rows made before an aware datetime
that have not come to their end, the oldest first. ``called(text) -> keys`` (optional) lists the rows that people call
so, by a number that pages and mails show; ``typed_id`` reads it as it was typed or pasted, and more than ``MAX_CALLED``
are not looked at. ``Subject``: one such row at this moment; ``awaited`` names the events of which one must still come
for it to be settled. ``Work``: what the row says of a long task (``atomic=False``), by the consumer's name in
``Subject.works``: ``waiting``, ``running``, ``failed`` or ``done``.

*Returns*. ``register``: nothing; a second call with the same name replaces the first.

*Hazard*. These functions run while a person waits for an answer, within a statement timeout of a second or two: ask by
an index. What they raise ends the answer, so ``find`` must not raise for an id that is not its own.
"""

from baton_messaging.database.text import typed_id
from baton_messaging.diagnosis.triage.delivery_facts import Work
from baton_messaging.diagnosis.triage.facts import Subject
from baton_messaging.diagnosis.triage.subjects import MAX_CALLED, SubjectKind, register, uuids_in

__all__ = ["MAX_CALLED", "Subject", "SubjectKind", "Work", "register", "typed_id", "uuids_in"]
