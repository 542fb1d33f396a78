"""How long triage takes with a million rows in each table, and a hundred thousand messages in the queue.

    python -m benchmarks.triage

Each question is asked twice: in a process that has begun, as the page and the API do, and by `manage.py triage` in a
shell, from its start to its end. Filling takes some minutes; it is not part of `make bench`. Exit code 1 if an answer
takes more than two seconds.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from benchmarks.servers import servers

PROJECT = Path(__file__).resolve().parent.parent
ROWS, BACKLOG, STUCK, MAX_SECONDS = 1_000_000, 100_000, 1_000, 2.0

_FILL = (
    """
    INSERT INTO baton_outbox (message_id, name, version, key, payload, occurred_at, correlation_id,
        traceparent, available_at, published_at, settled_at, sent_to, send_failure_count, last_error)
    SELECT gen_random_uuid(), 'benchmarks.timed', 1, gen_random_uuid()::text, '{}', now(), gen_random_uuid(),
        '', now(), now(), now(), '{}', 0, ''
    FROM generate_series(1, %s)
    """,
    """
    INSERT INTO baton_inbox (message_id, consumer, processed_at, duration_ms, worker)
    SELECT message_id, 'benchmarks.take_timed', now(), 3, 'w' FROM baton_outbox LIMIT %s
    """,
    """
    INSERT INTO baton_attempt (message_id, consumer, round, attempt, key, envelope, error_class, error_message,
        traceback, worker, failed_at, due_at, sent_at)
    SELECT message_id, 'benchmarks.take_timed', 0, 1, key, '{}', 'E', '', '', '', now(), now(), now()
    FROM baton_outbox LIMIT %s
    """,
    """
    INSERT INTO baton_dead_letter (message_id, consumer, event_name, key, owner, reason, error_class, error_message,
        traceback, attempt_count, raw, task_id, fingerprint, state, first_failed_at, died_at, settled_at, replay_count)
    SELECT message_id, 'benchmarks.take_timed', name, key, '', 'expired', 'E', '', '', 1, '', '', 'f', 'resolved',
        now(), now(), now(), 0
    FROM baton_outbox LIMIT %s
    """,
)


def main() -> int:
    """Fill, ask, print; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="baton-triage-") as folder, servers(Path(folder)):
        os.environ["DJANGO_DEBUG"] = "false"
        import django  # noqa: PLC0415 - its settings read the environment that was just made
        from django.core.management import call_command  # noqa: PLC0415

        django.setup()
        call_command("migrate", run_syncdb=True, verbosity=0)
        key, old = _fill()
        _ask(key)  # the first answer also imports
        slowest = max([_ask(key), _ask(old), _ask("--stuck")])
        _publish(STUCK)
        slowest = max(slowest, _ask("--stuck", "--older-than", "0s"))
        _send()
        slowest = max(slowest, _ask("--stuck", "--older-than", "0s"))
    print(f"slowest answer: {slowest:.2f} s, wanted: {MAX_SECONDS:g} s at most")
    return int(slowest > MAX_SECONDS)


def _fill() -> tuple[str, str]:
    """Return the key of a message behind a backlog, and one of the million."""
    from celery import current_app  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        for statement in _FILL:
            cursor.execute(statement, [ROWS])
        cursor.execute("ANALYZE")
        cursor.execute("SELECT key FROM baton_outbox WHERE id = %s", [ROWS // 2])
        (old,) = cursor.fetchone()
    (key,) = _publish(1)
    _send()
    with current_app.connection_for_write() as broker:
        client: Any = broker.default_channel.client
        stranger = client.lrange("benchmarks", 0, 0)[0]
        for _ in range(BACKLOG // 1_000):  # before it: the queue is read from its right end
            client.rpush("benchmarks", *[stranger.replace(b'"body"', b'"nobody"')] * 1_000)
    return str(key), str(old)


def _publish(count: int) -> list[UUID]:
    from baton_messaging.publish import publish  # noqa: PLC0415
    from django.db import transaction  # noqa: PLC0415

    from benchmarks.events import Timed  # noqa: PLC0415

    keys = [uuid4() for _ in range(count)]
    with transaction.atomic():
        publish(*(Timed(order_id=key) for key in keys))
    return keys


def _send() -> None:
    from baton_messaging.relaying.outbox_round import send_outbox  # noqa: PLC0415
    from celery import current_app  # noqa: PLC0415

    with current_app.connection_for_write() as broker:
        send_outbox(current_app.amqp.Producer(broker, auto_declare=False))


def _ask(*words: str) -> float:
    inside, answer = _timed(_ask_here, words)
    as_command, same = _timed(_ask_in_a_shell, words)
    if answer != same:
        raise AssertionError(f"Expected one answer from both, got {answer!r} and {same!r}.")
    print(f"{inside:6.2f} s, as a command {as_command:.2f} s  {' '.join(words)}: {answer}", flush=True)
    return max(inside, as_command)


def _timed(ask: Callable[[Sequence[str]], str], words: Sequence[str]) -> tuple[float, str]:
    """Return the seconds, and the answer's first line."""
    started = time.monotonic()
    text = ask(words)
    return time.monotonic() - started, text.splitlines()[0]


def _ask_here(words: Sequence[str]) -> str:
    from django.core.management import call_command  # noqa: PLC0415

    out = StringIO()
    with suppress(SystemExit):  # somebody must act: nothing runs here
        call_command("triage", *words, stdout=out)
    return out.getvalue()


def _ask_in_a_shell(words: Sequence[str]) -> str:
    command = [sys.executable, "manage.py", "triage", *words]
    return subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=False).stdout


if __name__ == "__main__":
    sys.exit(main())
