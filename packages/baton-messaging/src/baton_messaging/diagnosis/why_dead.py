"""A death is explained by what is not the message's fault: a server that refuses, a policy, another release."""

from baton_messaging.diagnosis.older_releases import without_the_task
from baton_messaging.diagnosis.refused_for_all import refused_for_all
from baton_messaging.diagnosis.refused_statements import cause_of_refusal
from baton_messaging.diagnosis.servers.policies import cause_of_expiry
from baton_messaging.health.diagnosis import Diagnosis


def why_dead(consumer: str, reason: str, error_class: str, error_message: str) -> Diagnosis | None:
    """Return why a message died, or an attempt failed (``reason`` empty), None where nothing but itself explains it.

    A few small queries. Raises the database's errors.
    """
    return (
        cause_of_refusal(error_class, error_message)
        or cause_of_expiry(consumer, error_class)
        or refused_for_all(consumer, reason, error_class, error_message)
        or without_the_task(consumer, reason, error_class)
    )
