"""Reach: does a server answer, and if not, is that its own doing?

What it says itself is proved. Silence is held against it only where this process had the time to listen, and then it is
likely: a page must answer in two seconds, which a busy server may take. What is said of it is what doctor says.
"""

from dataclasses import replace
from typing import Any, Final

from django.db import OperationalError, ProgrammingError, connection

from baton_messaging.database.deadline import Deadline, statements_within
from baton_messaging.database.errors import takes_writes
from baton_messaging.diagnosis.servers.diagnose import diagnose
from baton_messaging.diagnosis.triage.facts import Reach
from baton_messaging.health.answers import NoAnswer, StoodStill, answers_within
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Confidence, Diagnosis
from baton_messaging.health.locks import Session, table_locks
from baton_messaging.health.own_time import OwnTime
from baton_messaging.health.refusals import of_server
from baton_messaging.health.run import is_silence

CONNECT_SECONDS: Final = 0.8
_LOCK_NOT_AVAILABLE: Final = "55P03"


def database_reach() -> Reach:
    """Tell whether the database answers, without waiting for one that does not."""
    error = answers_within(CONNECT_SECONDS, {"database": _asks})["database"].error
    return reach_of(error) if error else Reach()


def reach_of(error: Exception, server: str = "database") -> Reach:
    """Return what an error says of a server. What this process is short of says nothing of it."""
    refusal = of_server(error)
    if isinstance(error, NoAnswer) or is_silence(refusal.said):
        cause = _cause(server, Condition.AWAY, f"{refusal.said}: no connection")
        return Reach(False, reason(error), Confidence.LIKELY, cause=cause)
    if refusal.condition is Condition.NOT_KNOWN:
        return Reach(False, reason(error), Confidence.OPEN)
    return Reach(False, reason(error), cause=_cause(server, refusal.condition, refusal.said))


def heard(reach: Reach, own_time: OwnTime) -> Reach:
    """Return it without an accusation, where the silence may have been this process's own."""
    if reach.confidence is Confidence.LIKELY and not own_time.is_evidence():
        return replace(reach, confidence=Confidence.OPEN, cause=None)
    return reach


def reach_after(error: OperationalError | ProgrammingError) -> Reach:
    """Return what an error of a statement says of the database: away, of another release, or locked, and by whom."""
    reach = reach_of(error)
    if getattr(error.__cause__, "sqlstate", "") != _LOCK_NOT_AVAILABLE:
        return reach
    return replace(reach, locked=answers_within(CONNECT_SECONDS, {"lock": _table_lock})["lock"].value)


def reason(error: Exception | None) -> str:
    """Return a sentence of the server's, with the name of the error that brought it."""
    if error is None:
        return "no answer"
    if isinstance(error, NoAnswer | StoodStill):
        return str(error)
    return f"{type(error.__cause__ or error).__name__} ({of_server(error).said})"


def read_only_cause() -> Diagnosis | None:
    """Return what doctor would say of a database that answers and takes no writes; None if it takes them."""
    if takes_writes():
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery()")
        (is_in_recovery,) = cursor.fetchone()
    facts = {"server": {"is_in_recovery": is_in_recovery}}
    return _cause("database", Condition.READ_ONLY, "transaction_read_only is on", facts)


def _cause(name: str, condition: Condition, said: str, facts: dict[str, Any] | None = None) -> Diagnosis:
    settings = connection.settings_dict
    server = f"{settings['HOST'] or 'localhost'}:{settings['PORT'] or 5432}/{settings['NAME']}"
    return next(diagnose(Health(name, condition, said, server if name == "database" else "", facts=facts or {})))


def _table_lock(deadline: Deadline) -> tuple[str, Session] | None:
    with statements_within(deadline):
        return next(((lock.table, lock.holder) for lock in table_locks() if lock.is_total), None)


def _asks(deadline: Deadline) -> None:
    own = connection.copy()
    own.settings_dict["OPTIONS"] = {**own.settings_dict["OPTIONS"], "connect_timeout": deadline.seconds_left}
    try:
        with own.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        own.close()
