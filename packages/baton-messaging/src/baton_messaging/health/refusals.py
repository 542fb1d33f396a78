"""A refusal is classified: what an error says about the server that caused it, whatever has wrapped it on its way.

    refusal = classify(error)
    log.warning("broker_away", condition=refusal.condition, said=refusal.said)

Works without the clients of brokers that are not installed: an error is told by its attributes, codes and words
(server_codes.py), not by its class.
"""

import socket
import ssl
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from baton_messaging.health import server_codes as codes
from baton_messaging.health.condition import Condition
from baton_messaging.health.redaction import quoted

THIS_PROCESS: Final = "this process"
_MAX_CAUSES: Final = 10  # a circle of causes has no end
_HUNDRED: Final = 100
_SERVER_ERROR: Final = 5  # hundreds


@dataclass(frozen=True)
class Refusal:
    """What an error means. ``said``: the server's own words, without secrets.

    ``by`` names who said them where that is not the server: a proxy, or THIS_PROCESS, which could not even ask.
    """

    condition: Condition
    said: str
    by: str = ""


def of_server(error: BaseException) -> Refusal:
    """Classify what a server's client raised: what this process is short of says nothing of the server."""
    refusal = classify(error)
    return replace(refusal, condition=Condition.NOT_KNOWN) if refusal.by == THIS_PROCESS else refusal


def classify(error: BaseException) -> Refusal:
    """Return what the error, or the nearest of its causes that can be read, says. NOT_KNOWN: none can."""
    for cause in _causes(error):
        for read in _READERS:
            if (found := read(cause)) is not None:
                return found
    return Refusal(Condition.NOT_KNOWN, _named(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _postgresql(error: BaseException) -> Refusal | None:
    """Read an error of psycopg. Without a code it comes from the client: there is no connection, or it broke."""
    sqlstate = getattr(error, "sqlstate", None)
    if sqlstate is None and not (_is_of(error, "psycopg") and type(error).__name__ in _PSYCOPG_CONNECTION):
        return None
    words = _primary_message(error)
    is_pools = sqlstate == "08P01" or (sqlstate is None and _first(codes.POSTGRESQL_WORDS, words) is None)
    if is_pools and (found := _first(codes.PGBOUNCER_WORDS, words)):
        return Refusal(found, f"PgBouncer: {quoted(words)}", by="PgBouncer")
    if sqlstate is None:
        by = THIS_PROCESS if any(own in words for own in codes.OWN_WORDS) else ""
        return Refusal(_first(codes.POSTGRESQL_WORDS, words) or Condition.AWAY, quoted(words), by=by)
    known = _first(codes.POSTGRESQL_SYSTEM_WORDS, words) if sqlstate[:2] in _SYSTEM_CLASSES else None
    known = known or codes.SQLSTATES.get(sqlstate) or codes.SQLSTATES.get(sqlstate[:2])
    return Refusal(known, f"{quoted(words)} ({sqlstate})") if known else None


_PSYCOPG_CONNECTION: Final = {"OperationalError", "InterfaceError", "ConnectionTimeout", "PoolTimeout", "PoolClosed"}


#: Under these PostgreSQL passes on what the system below it says, or what it would be a right to do.
_SYSTEM_CLASSES: Final = ("42", "53", "58", "XX")


def _primary_message(error: BaseException) -> str:
    """Leave out the detail, which quotes rows."""
    return str(getattr(getattr(error, "diag", None), "message_primary", None) or error)


def _redis(error: BaseException) -> Refusal | None:
    if not _is_of(error, "redis", "valkey"):
        return None
    words = str(error).rpartition(" of pipeline caused error: ")[2]  # before that stands the command, with its message
    prefix = str(getattr(error, "status_code", None) or _REDIS_CLASSES.get(type(error).__name__, ""))
    if prefix and not words.startswith(prefix):  # the client has cut it off
        words = f"{prefix} {words}"
    because = words.partition("discarded because of: ")[2]  # EXECABORT names the error of a command within
    first = (because or words).partition(" ")[0].rstrip(":")
    known = codes.REDIS_PREFIXES.get(first)
    if first == "MISCONF" or known is None:
        known = _first(codes.REDIS_WORDS, words) or known
    if known is None:
        known = _by_errno_in(words)
    by = THIS_PROCESS if any(own in words for own in codes.OWN_WORDS) else ""
    return Refusal(known, quoted(words), by=by) if known else None


#: Classes of redis-py that lose the prefix (before version 6 there is no ``status_code``).
_REDIS_CLASSES: Final = {
    "ReadOnlyError": "READONLY",
    "OutOfMemoryError": "OOM",
    "BusyLoadingError": "LOADING",
    "NoPermissionError": "NOPERM",
    "ExecAbortError": "EXECABORT",
    "MasterDownError": "MASTERDOWN",
    "ClusterDownError": "CLUSTERDOWN",
    "TryAgainError": "TRYAGAIN",
    "NoScriptError": "NOSCRIPT",
}


def _by_errno_in(words: str) -> Condition | None:
    """Read "Error 111 connecting to cache:6379. …", or that a connection broke."""
    number = words.removeprefix("Error ").partition(" ")[0]
    if words.startswith("Error ") and number.lstrip("-").isdigit():
        return codes.ERRNOS.get(int(number), Condition.AWAY)
    return Condition.AWAY if words.startswith(_REDIS_BROKE) else None


_REDIS_BROKE: Final = ("Timeout ", "Error ", "Connection closed", "Connection ", "Socket ", "Bad response")


def _amqp(error: BaseException) -> Refusal | None:
    name = type(error).__name__
    if name in codes.AMQP_CLASSES and _is_of(error, "amqp", "kombu", "baton_messaging"):
        return Refusal(codes.AMQP_CLASSES[name], quoted(str(error)) or _AMQP_NAMES.get(name, name))
    code = getattr(error, "reply_code", None)
    if not isinstance(code, int) or code not in codes.AMQP_CODES:
        is_broken = _is_of(error, "amqp") and "Connection" in name
        return Refusal(Condition.AWAY, quoted(str(error)) or name) if is_broken else None
    words = str(getattr(error, "reply_text", None) or error)
    known = codes.AMQP_CODES[code]
    if code in _AMQP_TOLD_BY_WORDS:
        known = _first(codes.AMQP_WORDS, words) or known
        if "refused for user" in words and known is not Condition.FULL:  # of a limit it says the same
            known = Condition.NOT_PERMITTED
    return Refusal(known, quoted(words if str(code) in words else f"{words} ({code})"))


_AMQP_TOLD_BY_WORDS: Final = (404, 406, 506, 530, 541)
_AMQP_NAMES: Final = {"MessageNacked": "the broker did not take the message (basic.nack)"}


def _smtp(error: BaseException) -> Refusal | None:
    if not _is_of(error, "smtplib"):
        return None
    code, words = getattr(error, "smtp_code", None), getattr(error, "smtp_error", b"")
    for recipient_code, recipient_words in getattr(error, "recipients", {}).values():
        code, words = recipient_code, recipient_words
    if not isinstance(code, int):
        return Refusal(_SMTP_CLASSES.get(type(error).__name__, Condition.AWAY), quoted(str(error)))
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
    known = codes.SMTP_CODES.get(code) or (Condition.AWAY if code < _HUNDRED else Condition.REFUSES)
    return Refusal(known, quoted(f"{code} {' '.join(text.split())}"))


_SMTP_CLASSES: Final = {"SMTPNotSupportedError": Condition.DIFFERENT}


def _tls(error: BaseException) -> Refusal | None:
    if not isinstance(error, ssl.SSLError):
        return None
    told = getattr(error, "verify_message", "")
    if told:
        return Refusal(Condition.AWAY, quoted(f"certificate verify failed: {told}"))
    words = getattr(error, "reason", None) or str(error)
    return Refusal(_first(codes.TLS_REASONS, words) or Condition.AWAY, quoted(f"TLS: {words}"))


def _network(error: BaseException) -> Refusal | None:
    if isinstance(error, (socket.gaierror, socket.herror)):
        return Refusal(Condition.AWAY, quoted(f"{error.strerror or error} (DNS)"))
    if isinstance(error, TimeoutError) and error.errno is None:
        return Refusal(Condition.AWAY, quoted(str(error)) or "no answer in time")
    return None


def _http(error: BaseException) -> Refusal | None:
    """Read what clients of HTTP raise: urllib (``code``), requests and httpx (``response``), botocore."""
    response: Any = getattr(error, "response", None)
    told = response.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(response, dict) else None
    code = told or getattr(response, "status_code", None) or (_is_of(error, "urllib") and getattr(error, "code", None))
    if not isinstance(code, int) or isinstance(code, bool) or code < 4 * _HUNDRED:
        return None
    by_hundred = Condition.REFUSES if code // _HUNDRED == _SERVER_ERROR else Condition.NOT_KNOWN
    return Refusal(codes.HTTP_CODES.get(code, by_hundred), quoted(f"HTTP {code}: {error}"))


def _system(error: BaseException) -> Refusal | None:
    if not isinstance(error, OSError):
        return None
    known = codes.ERRNOS.get(error.errno) if error.errno is not None else None
    if known is None:
        return Refusal(Condition.AWAY, _named(error)) if isinstance(error, ConnectionError) else None
    where = f": {error.filename}" if error.filename else ""
    return Refusal(
        known, quoted(f"{error.strerror}{where}"), by=THIS_PROCESS if error.errno in codes.OWN_ERRNOS else ""
    )


_READERS: Final[Iterable[Callable[[BaseException], Refusal | None]]] = (
    _postgresql, _redis, _amqp, _smtp, _tls, _network, _http, _system,
)  # fmt: skip


def _is_of(error: BaseException, *packages: str) -> bool:
    return any(kind.__module__.partition(".")[0] in packages for kind in type(error).__mro__)


def _first(table: Iterable[tuple[str, Condition]], words: str) -> Condition | None:
    return next((condition for part, condition in table if part in words), None)


def _named(error: BaseException) -> str:
    words = quoted(str(error))
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
