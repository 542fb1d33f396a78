"""Readiness is told by the processes themselves, each in a row of its own (baton_messaging/processes).

A process that runs may still be importing, or die at its start again and again; the supervisor cannot tell.
"""

import socket
from collections.abc import Iterable

import psycopg

from baton_dev.supervisor.procfile import Program
from baton_dev.supervisor.supervisor import Running

# Words in the command lines of what beats: `celery … worker`, `celery … beat`, `manage.py relay`, …
BEATING = frozenset({"worker", "beat", "relay", "collect_dead_letters"})

_AT_WORK = """
    SELECT pid FROM baton_heartbeat
    WHERE hostname = %s AND pid = ANY(%s) AND is_consuming AND beaten_at > clock_timestamp() - interval '20 seconds'
"""


def not_at_work(programs: Iterable[Program], processes: Iterable[Running], *, database_url: str) -> list[str]:
    """Return the names of the programs that do not run, or have not said yet that they work.

    While the database is away (it is restarted, say) that is all of them.
    """
    pids = {process.name: process.pid for process in processes}
    expected = {program.name: pids.get(program.name, 0) for program in programs if BEATING & set(program.command)}
    if not expected:
        return []
    try:
        with psycopg.connect(database_url) as connection:
            rows = connection.execute(_AT_WORK, [socket.gethostname(), list(expected.values())])
            at_work = {pid for (pid,) in rows}
    except psycopg.OperationalError:
        return list(expected)
    return [name for name, pid in expected.items() if pid not in at_work]
