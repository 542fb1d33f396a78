"""How a broker is set up and how much room it has, as diagnoses: it works now, and would lose or refuse something."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.health.diagnosis import Diagnosis, Text, observed
from baton_messaging.health.resource import Kind, Resource

MIN_RABBITMQ: Final = (3, 10)
MIN_REDIS: Final = (6, 2)
#: Share of maxmemory, or of maxclients, above which a burst may fill it: then nothing more is taken.
MAX_SHARE: Final = 0.8
#: What a finding is about that may be the reason for a queue that is gone.
EVICTED: Final = "evicted keys"


def redis_room(facts: Mapping[str, Any], cli: str) -> Iterator[Diagnosis]:
    """Return what INFO shows: version, eviction, memory, connections, persistence. ``cli`` reaches the server."""
    yield _told(
        _numbers(facts["server"]["version"]) >= MIN_REDIS,
        "redis_version",
        _("version of the broker"),
        found=f"{facts['server']['product']} {facts['server']['version']}",
        wanted=_("Redis 6.2 or newer, or Valkey"),
        remedy=_("Upgrade the broker: older ones lack commands that the transport uses."),
    )
    policy = str(facts.get("maxmemory_policy", "?"))
    yield _told(
        policy == "noeviction",
        "maxmemory-policy",
        _("eviction policy of the broker"),
        found=policy,
        wanted="noeviction",
        remedy=_("Set maxmemory-policy noeviction: any other deletes queued messages when memory is full."),
        command=f"{cli} CONFIG SET maxmemory-policy noeviction",
    )
    yield from _evicted(facts, policy, cli)
    yield from _memory(facts, cli)
    yield from _clients(facts, cli)
    yield _persistence(facts, cli)


def _evicted(facts: Mapping[str, Any], policy: str, cli: str) -> Iterator[Diagnosis]:
    """Return that keys were deleted to make room: a queue is one, with all its messages."""
    count = int(facts.get("evicted_keys") or 0)
    if count and policy != "noeviction":
        yield _told(
            False,
            EVICTED,
            _("evicted keys"),
            found=format_lazy(
                _("the broker has evicted {count} keys to make room ({policy}): a queue is one"),
                count=count,
                policy=policy,
            ),
            wanted=_("none"),
            remedy=_("Set maxmemory-policy noeviction; what was queued is sent again by the reconciler."),
            command=f"{cli} CONFIG SET maxmemory-policy noeviction",
        )


def _memory(facts: Mapping[str, Any], cli: str) -> Iterator[Diagnosis]:
    limit, used = int(facts.get("maxmemory") or 0), int(facts.get("used_memory") or 0)
    text = _("{used} in use, limit {limit}") if limit else _("{used} in use, no limit set")
    yield _told(
        not limit or used <= limit * MAX_SHARE,
        "maxmemory",
        _("memory of the broker"),
        found=format_lazy(text, used=_megabytes(used), limit=_megabytes(limit)),
        wanted=format_lazy(_("at most {share} of the limit"), share=f"{MAX_SHARE:.0%}"),
        remedy=_("Raise maxmemory, or find out which queue is long: when it is full, messages wait in the outbox."),
        command=f"{cli} INFO memory",
    )


def _clients(facts: Mapping[str, Any], cli: str) -> Iterator[Diagnosis]:
    limit, used = int(facts.get("maxclients") or 0), int(facts.get("connected_clients") or 0)
    if limit:
        yield _told(
            used <= limit * MAX_SHARE,
            "maxclients",
            _("connections of the broker"),
            found=format_lazy(_("{used} of {limit}"), used=used, limit=limit),
            wanted=format_lazy(_("at most {share} of the limit"), share=f"{MAX_SHARE:.0%}"),
            remedy=_("Close connections, or raise maxclients. See who holds them."),
            command=f"{cli} CLIENT LIST",
        )


def _persistence(facts: Mapping[str, Any], cli: str) -> Diagnosis:
    is_kept, status = bool(facts.get("aof_enabled")), str(facts.get("aof_last_write_status", "ok"))
    text = _("append-only file, last write {status}") if is_kept else _("no append-only file")
    not_kept = _("Set appendonly yes: without it a restart forgets what is queued, and all of it must be sent again.")
    return _told(
        is_kept and status == "ok",
        "appendonly",
        _("persistence of the broker"),
        found=format_lazy(text, status=status),
        wanted=_("an append-only file that can be written"),
        remedy=_("Look at the broker's log and at its disk: it takes no more writes.") if is_kept else not_kept,
        command="" if is_kept else f"{cli} CONFIG SET appendonly yes",
    )


def rabbitmq_room(facts: Mapping[str, Any]) -> Iterator[Diagnosis]:
    """Return what the server's greeting shows, and queues that it has otherwise than this release declares them."""
    yield _told(
        _numbers(facts["server"]["version"]) >= MIN_RABBITMQ,
        "version",
        _("version of the broker"),
        found=f"{facts['server']['product']} {facts['server']['version']}",
        wanted=_("RabbitMQ 3.10 or newer"),
        remedy=_("Upgrade RabbitMQ: older quorum queues have no at-least-once dead-lettering."),
    )


def _told(
    is_right: bool, name: str, what: Text, *, found: Text, wanted: Text, remedy: Text, command: str = ""
) -> Diagnosis:
    about = Resource(Kind.SETTING, name)
    return observed(is_right, what, about=about, found=found, wanted=wanted, remedy=remedy, command=command)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-", maxsplit=1)[0].split(".") if part.isdigit())


def _megabytes(count: int) -> str:
    return f"{count / 1_048_576:,.1f} MB"
