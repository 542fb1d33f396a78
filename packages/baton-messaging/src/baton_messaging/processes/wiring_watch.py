"""Wiring and health of a process are looked at rarely, in a thread beside its loop, and written into its heartbeat.

Every LOOK_SECONDS, and soon after its loop has met trouble. What the loop itself has met at a server (``met``) stands
beside what the checks found, as long as it lasts: a probe may succeed where the work does not. The first time, and
whenever it changes, the process says in its log what differs from the processes that run. A server that hangs costs
this thread its time-outs, and no other anything.
"""

import json
import random
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final

import structlog
from celery import current_app
from django.db import connection

from baton_messaging.broker.rabbitmq.timeouts import answering_within
from baton_messaging.database.dedicated_connection import dedicated_connection
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.refusals import THIS_PROCESS, Refusal, classify
from baton_messaging.health.registry import check_names
from baton_messaging.health.run import run_checks
from baton_messaging.processes import wiring
from baton_messaging.processes.introduction import database_address
from baton_messaging.processes.wired import Wired, differences, wired_processes

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 30.0
#: Between two looks, however often the loop meets trouble.
MIN_LOOK_SECONDS: Final = 5.0
#: The same, when its own work has met something new.
NEWS_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 3.0  # that a server gets
#: What each message needs is asked at each look; mail servers, storage and the rest more rarely: nine processes ask.
_WELL: Final = (Condition.OK, Condition.NOT_KNOWN)
OFTEN: Final = ("database", "broker", "machine")
LOOKS_PER_THOROUGH_ONE: Final = 10

_WRITE: Final = """
    UPDATE baton_heartbeat SET
        wired_at = CASE WHEN wiring = %(wiring)s::jsonb THEN wired_at ELSE clock_timestamp() END,
        wiring = %(wiring)s::jsonb, wiring_checked_at = clock_timestamp(), health = %(health)s::jsonb
    WHERE name = %(name)s AND hostname = %(hostname)s AND pid = %(pid)s
"""
# A successor finds the process gone whose name it has: nobody else can tell how that one ended.
_PREDECESSORS: Final = """
    SELECT pid, wiring #>> '{process,id}' FROM baton_heartbeat
    WHERE name = %(name)s AND hostname = %(hostname)s AND pid <> %(pid)s AND ended_at IS NULL
"""
_END: Final = """
    UPDATE baton_heartbeat SET ended_at = clock_timestamp(), ended_by = 'killed, or crashed', is_consuming = false
    WHERE name = %(name)s AND hostname = %(hostname)s AND pid = ANY(%(pids)s)
"""


class WiringWatch:
    """Looks at what one process is wired to."""

    def __init__(self, identity: Mapping[str, Any]) -> None:
        self._identity = identity
        self._soon, self._news, self._stopped = threading.Event(), threading.Event(), threading.Event()
        self.is_written = False  # the row was there
        self._told: set[tuple[str, str]] = set()
        #: Held while a connection is open: no child may be forked then.
        self.looking = threading.Lock()
        self.wiring: dict[str, Any] = {}
        self.health: list[dict[str, Any]] = []
        self._started = monotonic()
        self._looks = 0
        self._has_met_strangers = False
        self._met: dict[str, Refusal] = {}  # by server
        self._thread = threading.Thread(target=self._look_until_stopped, name="wiring", daemon=True)

    @property
    def uptime_seconds(self) -> float:
        """Return how long the process has been beating."""
        return monotonic() - self._started

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()
        self._soon.set()
        self._news.set()

    def look_soon(self) -> None:
        """Look at once, unless that was done just now."""
        self._soon.set()

    def met(self, server: str, error: BaseException) -> None:
        """Note what the process's own work has met at a server: there is no better evidence."""
        refusal = classify(error)
        if refusal.condition is not Condition.NOT_KNOWN and self._met.get(server) != refusal:
            self._met[server] = refusal
            self._tell_news()

    def is_over(self, server: str) -> None:
        """Note that the work goes on there."""
        if self._met.pop(server, None) is not None:
            self._tell_news()

    def _tell_news(self) -> None:
        self._news.set()
        self._soon.set()

    def look(self) -> None:
        """Look at servers, keys and release; write down what was found, and say what differs."""
        with self.looking:
            is_first = not self._looks
            found = {
                "keys": wiring.keys(),
                "release": wiring.release(),
                "limits": wiring.limits(),
                "mail": wiring.mail(),
                "process": {"id": wiring.process_id()},
                "broker": self._broker(),
            }
            found["storage"] = self.wiring.get("storage", {})
            self.wiring = {**found, "database": self.wiring.get("database", {"address": database_address(), "id": ""})}
            if is_first:  # the checks take seconds, and others ask us now
                self._write()
            healths = self._check()
            self.health = [*healths, *self._what_was_met()]
            self.wiring["storage"] = wiring.storage(healths) or self.wiring["storage"]
            self._write()
            if self.is_written and not self._has_met_strangers:
                self._has_met_strangers = True
                self._tell_strangers()

    def _check(self) -> list[dict[str, Any]]:
        """Run the health checks; what is not asked each time keeps its last answer."""
        names = check_names()
        is_thorough = self._looks % LOOKS_PER_THOROUGH_ONE == 0
        self._looks += 1
        # What was seen must not outlive its end.
        in_trouble = {one["name"] for one in self.health if one["condition"] not in _WELL}
        asked = names if is_thorough else [name for name in names if name in OFTEN or name in in_trouble]
        try:
            found = {one.name: one.as_dict() for one in run_checks(asked, deadline_seconds=ANSWER_SECONDS)}
        except Exception as error:  # an app's own check that cannot be imported costs no more than the answers
            log.warning("health_not_checked", error_class=type(error).__name__)
            return [one for one in self.health if not one["facts"].get("met")]
        kept = (one for one in self.health if one["name"] not in found and not one["facts"].get("met"))
        return [*found.values(), *kept]

    def _what_was_met(self) -> Iterator[dict[str, Any]]:
        """Return it as of now: it lasts. What this process itself is short of is told of its machine, not a server."""
        for server, refusal in list(self._met.items()):
            name = "machine" if refusal.by == THIS_PROCESS else server
            facts = {"met": True, "hostname": self._identity["hostname"]}
            yield Health(name, refusal.condition, refusal.said, checked_at=datetime.now(UTC), facts=facts).as_dict()

    def _broker(self) -> dict[str, str]:
        """Return the broker that was asked, or what is known of it without an answer."""
        with current_app.connection_for_write() as broker:
            address = wiring.broker_address(broker)
            try:
                with answering_within(broker, ANSWER_SECONDS):
                    return wiring.broker(broker)
            except Exception:  # away, refusing, forbidden: the health checks say which
                known: dict[str, str] = self.wiring.get("broker", {})
                return known if known.get("address") == address else {"address": address, "id": ""}

    def _write(self) -> None:
        with dedicated_connection() as own:
            self.wiring["database"] = wiring.database(own, database_address())
            with own.cursor() as cursor:
                values = {"wiring": json.dumps(self.wiring), "health": json.dumps(self.health)}
                cursor.execute(_WRITE, {**self._identity, **values})
                self.is_written = bool(cursor.rowcount)
                self._end_predecessors(cursor)
                others = wired_processes(cursor)
        self._tell(others)

    def _end_predecessors(self, cursor: Any) -> None:
        cursor.execute(_PREDECESSORS, self._identity)
        gone = [pid for pid, started in cursor.fetchall() if started and wiring.process_id_of(pid) != started]
        if gone:
            cursor.execute(_END, {**self._identity, "pids": gone})

    def _tell(self, processes: list[Wired]) -> None:
        """Say once what differs between us and the others."""
        own = next((one for one in processes if one.pid == self._identity["pid"]), None)
        for one in differences(processes):
            if own and own in one.odd and (key := (one.aspect, one.usual_value)) not in self._told:
                self._told.add(key)
                log.warning(
                    "wired_differently",
                    what=one.aspect,
                    here=one.odd_value,
                    others=one.usual_value,
                    whom=[other.name for other in one.usual],
                )

    def _tell_strangers(self) -> None:
        """Say at the start who is at our broker and not in our database: one of both is of another installation."""
        from baton_messaging.processes.broker_consumers import unknown_consumers  # noqa: PLC0415 - models are ready now

        try:
            with current_app.connection_for_write() as broker:
                for one in unknown_consumers(broker, ANSWER_SECONDS):
                    log.warning("wired_differently", what="database", found=str(one.found), remedy=str(one.remedy))
        finally:
            connection.close()

    def _look_until_stopped(self) -> None:
        self._soon.wait(MIN_LOOK_SECONDS)  # for the row; without a database, look all the same: others may ask us
        while not self._stopped.is_set():
            self._soon.clear()
            self._news.clear()
            try:
                self.look()
            except Exception as error:  # whatever it is: the process has better to do
                log.debug("wiring_not_looked_at", error_class=type(error).__name__)
            self._stopped.wait(NEWS_SECONDS)
            self._news.wait(MIN_LOOK_SECONDS - NEWS_SECONDS)
            if any(one["condition"] not in _WELL for one in self.health if one["name"] in OFTEN):
                continue  # what was seen must not outlive its end
            self._soon.wait(LOOK_SECONDS * random.uniform(0.9, 1.1) - MIN_LOOK_SECONDS)  # noqa: S311 - spreads
