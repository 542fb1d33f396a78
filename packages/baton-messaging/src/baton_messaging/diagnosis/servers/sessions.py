"""Sessions in the way as diagnoses: those that others wait for, that keep a transaction open, or a prepared one."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.diagnosis import commands
from baton_messaging.health.diagnosis import Diagnosis, Text, finding
from baton_messaging.health.locks import PREPARED_PID, Session
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import duration

#: Seconds that others may wait for a session before it is told of: a busy row is waited for now and then.
MAX_BLOCKED_SECONDS: Final = 5.0
#: Seconds that a transaction may be left open without doing anything.
MAX_IDLE_SECONDS: Final = 300.0
#: Transactions that the oldest snapshot may be behind: dead rows since then cannot be vacuumed away.
MAX_XMIN_AGE: Final = 2_000_000


def told(session: Mapping[str, Any]) -> str:
    """Return who a session is, and since when it is in its state: what a person needs to find its owner."""
    parts = [
        str(session.get("user") or ""),
        str(session.get("application") or ""),
        str(session.get("client") or ""),
        f"{session.get('state') or ''} since {_time(session.get('since'))}".strip(),
    ]
    name = f"prepared transaction {session['gid']}" if session.get("gid") else str(session["pid"])
    return f"{name} ({', '.join(part for part in parts if part)})"


def ending(session: Mapping[str, Any]) -> str:
    """Return the command that ends it."""
    return commands.sql(Session(session["pid"], gid=session.get("gid") or "").ending)


def waiting_sessions(facts: Mapping[str, Any]) -> Iterator[Diagnosis]:
    """Return the sessions that others wait for, and those that hold what nobody waits for yet."""
    blocking = set()
    for session in facts.get("blockers") or ():
        if _is_forgotten(session) or session["blocks_seconds"] >= MAX_BLOCKED_SECONDS:
            blocking |= {session["pid"], session.get("gid")}
            yield _blocker(session)
    for session in facts.get("idle_in_transaction") or ():
        if session["pid"] not in blocking and (session.get("seconds") or 0) >= MAX_IDLE_SECONDS:
            yield _idle(session)
    for transaction in facts.get("prepared_transactions") or ():
        if transaction["gid"] not in blocking and (transaction.get("seconds") or 0) >= MAX_IDLE_SECONDS:
            yield _prepared(transaction)
    yield from _horizon(facts)


def _is_forgotten(session: Mapping[str, Any]) -> bool:
    """Tell whether it does nothing while others wait for it, and is none of ours: it goes on when a person does."""
    one = Session(session["pid"], application=session.get("application") or "", state=session.get("state") or "")
    return one.is_forgotten and not one.is_ours


def _blocker(session: Mapping[str, Any]) -> Diagnosis:
    blocks = session.get("blocks") or ()
    found = _("session {session} holds what {count} others wait for ({pids}); its last statement: {statement}")
    return _in_the_way(
        f"session {session.get('gid') or session['pid']}",
        _("a session that others wait for"),
        format_lazy(
            found,
            session=told(session),
            count=len(blocks),
            pids=", ".join(map(str, blocks)),
            statement=session.get("statement") or "?",
        ),
        format_lazy(_("Let {user} end the transaction, or end its session."), user=session.get("user") or "?"),
        ending(session),
        since=_moment(session.get("since")),
    )


def _idle(session: Mapping[str, Any]) -> Diagnosis:
    found = _("session {session} has left a transaction open for {age}; its last statement: {statement}")
    return _in_the_way(
        f"session {session['pid']}",
        _("a transaction that was left open"),
        format_lazy(
            found,
            session=told(session),
            age=duration(session.get("seconds")),
            statement=session.get("statement") or "?",
        ),
        _("End it: it keeps locks, and old rows from being vacuumed away."),
        ending(session),
        since=_moment(session.get("since")),
    )


def _prepared(transaction: Mapping[str, Any]) -> Diagnosis:
    found = _("prepared transaction {name} of {user} is open for {age}")
    return _in_the_way(
        f"prepared {transaction['gid']}",
        _("a transaction that was left open"),
        format_lazy(found, name=transaction["gid"], user=transaction["user"], age=duration(transaction.get("seconds"))),
        _("Commit or roll it back: it keeps its locks over restarts."),
        ending({**transaction, "pid": PREPARED_PID}),
        since=_moment(transaction.get("since")),
    )


def _horizon(facts: Mapping[str, Any]) -> Iterator[Diagnosis]:
    for holder in facts.get("xmin_holders") or ():
        if (holder.get("xmin_age") or 0) > MAX_XMIN_AGE:
            found = _("{kind} {name} ({user}, {application}) keeps all rows of the last {count} transactions")
            yield _in_the_way(
                f"xmin {holder['name']}",
                _("old rows that cannot be vacuumed away"),
                format_lazy(
                    found,
                    kind=holder["kind"],
                    name=holder["name"],
                    user=holder.get("user") or "-",
                    application=holder.get("application") or "-",
                    count=f"{holder['xmin_age']:,}",
                ),
                _("End it, or drop the slot that nobody reads: tables and queries grow slow."),
                _release(holder),
            )
            return  # the oldest one decides; after it the next is seen


def _release(holder: Mapping[str, Any]) -> str:
    match holder["kind"]:
        case "session":
            return commands.sql(f"SELECT pg_terminate_backend({holder['name']})")
        case "replication slot":
            return commands.sql(f"SELECT pg_drop_replication_slot('{holder['name']}')")
        case "prepared transaction":
            return commands.sql(f"ROLLBACK PREPARED '{holder['name']}'")
        case _:
            return commands.sql("SELECT application_name, backend_xmin FROM pg_stat_replication")


def _in_the_way(
    name: str, what: Text, found: Text, remedy: Text, command: str, *, since: datetime | None = None
) -> Diagnosis:
    about = Resource(Kind.DATA, name)
    return finding(about, what, found=found, wanted=_("none"), remedy=remedy, command=command, since=since)


def _moment(text: Any) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else None


def _time(text: Any) -> str:
    moment = _moment(text)
    return f"{moment:%H:%M:%S}" if moment else "?"
