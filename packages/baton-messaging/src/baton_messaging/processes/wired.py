"""Wirings are compared: pairs of processes that cannot work together, and which of them is the odd one.

Rows in, differences out: no server is asked. The majority is taken to be right; of two that are equally many, both are
named.

A server's id changes with its restart. So two ids differ only if each was looked at after the other was found, or the
addresses differ, too; and what is not known differs from nothing.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from baton_messaging.conf import baton
from baton_messaging.health.dependencies import checks_of
from baton_messaging.routing.ownership import queue_name_of
from baton_messaging.routing.subscriptions import all_consumers

#: After which a process that still runs another release than most is no rollout any more.
ROLLOUT_MINUTES: Final = 10

_PROCESSES: Final = """
    SELECT name, role, hostname, pid, started_at, wired_at, wiring_checked_at, wiring, clock_timestamp(), queues
    FROM baton_heartbeat
    WHERE ended_at IS NULL AND beaten_at >= clock_timestamp() - %(stale)s * interval '1 second'
    ORDER BY name, hostname, pid
"""


@dataclass(frozen=True)
class Wired:
    """One process, and what it says that it is wired to."""

    name: str
    role: str
    hostname: str
    pid: int
    started_at: datetime
    wired_at: datetime | None
    checked_at: datetime | None
    wiring: dict[str, Any] = field(hash=False)
    looked_at: datetime | None = field(default=None, compare=False)
    queues: tuple[str, ...] = ()

    def says(self, aspect: str, name: str = "") -> Any:
        """Return one fact, or None."""
        found: Any = self.wiring.get(aspect)
        return found.get(name) if name and isinstance(found, dict) else found


@dataclass(frozen=True)
class Difference:
    """Some processes are wired otherwise than the usual ones. ``is_tie``: as many this way as that way.

    ``since`` both ways have been there. ``is_rollout``: for so short that it may be what a rollout looks like.
    """

    aspect: str
    odd: tuple[Wired, ...]
    odd_value: str
    usual: tuple[Wired, ...]
    usual_value: str
    is_tie: bool = False
    since: datetime | None = None
    is_rollout: bool = False


def wired_processes(cursor: Any) -> list[Wired]:
    """Return the processes that live, and have said what they are wired to."""
    cursor.execute(_PROCESSES, {"stale": baton().heartbeat_stale_seconds})
    rows = ((*row[:7], json.loads(row[7]), row[8], tuple(row[9])) for row in cursor.fetchall())
    return [one for one in (Wired(*row) for row in rows) if one.wiring]


def differences(processes: Sequence[Wired]) -> list[Difference]:
    """Return what differs, the gravest first."""
    storages = sorted({name for one in processes for name in one.says("storage") or ()})
    return [
        *_compare("broker", processes, lambda one: one.says("broker", "id") or None, _broker_text, _looked_at_together),
        *_compare("keys", processes, lambda one: one.says("keys", "signs"), _key_text, _refuse_each_other),
        *(
            difference
            for name in storages
            for difference in _compare(
                "storage",
                _users_of(name, processes),
                partial(Wired.says, aspect="storage", name=name),
                partial(_storage_text, name),
            )
        ),
        *_mail_in_no_server(processes),
        *map(_told_as_rollout, _compare("release", processes, _release, _release_text)),
    ]


def _compare(
    aspect: str,
    processes: Iterable[Wired],
    value_of: Callable[[Wired], Hashable | None],
    text_of: Callable[[Wired, Wired], str],
    differ: Callable[[Wired, Wired], bool] = lambda _one, _other: True,
) -> Iterator[Difference]:
    """Group the processes by a value; None is not known. Of groups that are equally large the older one is usual."""
    groups: dict[Hashable, list[Wired]] = defaultdict(list)
    for one in processes:
        if (value := value_of(one)) is not None:
            groups[value].append(one)
    if not groups:
        return
    usual, *others = sorted(groups.values(), key=lambda group: (-len(group), _start_of(group)))
    for group in others:
        odd = tuple(one for one in group if any(differ(one, other) for other in usual))
        if odd:
            yield Difference(
                aspect,
                odd,
                text_of(odd[0], usual[0]),
                tuple(usual),
                text_of(usual[0], odd[0]),
                is_tie=len(group) == len(usual),
                since=max(_start_of(odd), _start_of(usual)),
            )


def _start_of(group: Iterable[Wired]) -> datetime:
    return min(one.wired_at or one.started_at for one in group)


def _broker_text(one: Wired, other: Wired) -> str:
    """Return the address; where both use the same one, the server behind it, too."""
    address = str(one.says("broker", "address"))
    return address if address != other.says("broker", "address") else f"{address} (server {one.says('broker', 'id')})"


def _looked_at_together(one: Wired, other: Wired) -> bool:
    """Tell whether neither id is from before a restart of the server that both use."""
    if one.says("broker", "address") != other.says("broker", "address"):
        return True
    if not (one.wired_at and one.checked_at and other.wired_at and other.checked_at):
        return False
    return one.checked_at > other.wired_at and other.checked_at > one.wired_at


def _key_text(one: Wired, _other: Wired) -> str:
    return str(one.says("keys", "signs"))


def _refuse_each_other(one: Wired, other: Wired) -> bool:
    """Tell whether one of both takes what the other signs for forged. While keys rotate, each accepts both."""
    accepted_here, accepted_there = one.says("keys", "accepts") or (), other.says("keys", "accepts") or ()
    return one.says("keys", "signs") not in accepted_there or other.says("keys", "signs") not in accepted_here


def _users_of(storage: str, processes: Iterable[Wired]) -> list[Wired]:
    """Return who works with a storage: workers whose consumers depend on it, and the web, which hands its files out.

    Any other process may see none, or a folder of its own.
    """
    queues = {queue_name_of(consumer) for consumer in all_consumers() if storage in checks_of(consumer)}
    return [one for one in processes if one.role == "web" or queues & {*one.queues}]


def _mail_in_no_server(processes: Iterable[Wired]) -> Iterator[Difference]:
    """Return the workers that send mail to no server, though others name one: what they send reaches nobody."""
    told = [one for one in processes if one.says("mail")]
    odd = tuple(one for one in _users_of("mail", told) if one.role != "web" and not one.says("mail", "server"))
    usual = tuple(one for one in told if one.says("mail", "server"))
    if odd and usual:
        since = max(_start_of(odd), _start_of(usual))
        yield Difference("mail", odd, _mailer(odd[0]), usual, _mailer(usual[0]), since=since)


def _mailer(one: Wired) -> str:
    return str(one.says("mail", "server") or one.says("mail", "backend"))


def _storage_text(name: str, one: Wired, _other: Wired) -> str:
    return f"{name} {one.says('storage', name)}"


def _release(one: Wired) -> Hashable | None:
    facts = one.says("release")
    return tuple(sorted(facts.items())) if facts else None


def _release_text(one: Wired, other: Wired) -> str:
    mine, theirs = one.says("release"), other.says("release")
    return ", ".join(f"{name} {mine[name]}" for name in sorted(mine) if mine[name] != theirs.get(name))


def _told_as_rollout(difference: Difference) -> Difference:
    looked_at = difference.usual[0].looked_at
    if looked_at is None or difference.since is None:
        return difference
    return replace(difference, is_rollout=looked_at - difference.since < timedelta(minutes=ROLLOUT_MINUTES))
