"""The list of messages that died: how they get there (recording, collector), and what a person can do with them.

The admin's desk, ``manage.py dead_letters`` and the API are three doors to the same functions: replaying, editing,
redirecting, discarding. Each is one audited operation in one transaction (audit.py).
"""

from baton_messaging.dead_letters.intake.record import claim_identity, record_dead_letter, record_unreadable

__all__ = ["claim_identity", "record_dead_letter", "record_unreadable"]
