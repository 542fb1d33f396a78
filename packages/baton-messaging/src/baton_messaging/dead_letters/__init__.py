"""The list of messages that died: how they get there (``intake``), and what a person can do with them (``operations``).

A dead letter is a person's: the owner of its queue is told (``alerts``) and decides. The room keeps the promise that
every way a message can die ends in one list. The admin's desk, ``manage.py dead_letters`` and the API are three doors
to the same functions.
"""

from baton_messaging.dead_letters.intake.record import RowIdentity, record_dead_letter, record_unreadable_row
from baton_messaging.dead_letters.intake.refused import record_bad_body, record_refused

__all__ = ["RowIdentity", "record_bad_body", "record_dead_letter", "record_refused", "record_unreadable_row"]
