"""What a health check costs, each and all together: the time that it takes, and processor time of the asking process.

    python -m benchmarks.health

With servers that are there and well. Exit code 1 if a round of all takes more processor time than a process may spend
on it that asks every 30 seconds: one part in a thousand.
"""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.servers import servers

ROUNDS, MAX_PROCESSOR_MS = 50, 30.0


def main() -> int:
    """Ask, print; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="baton-health-") as folder, servers(Path(folder)):
        os.environ["DJANGO_DEBUG"] = "false"
        import django  # noqa: PLC0415 - its settings read the environment that was just made
        from django.core.management import call_command  # noqa: PLC0415

        django.setup()
        call_command("migrate", run_syncdb=True, verbosity=0)
        from baton_messaging.health.registry import check_names  # noqa: PLC0415 - as above

        names = check_names()
        for name in names:
            _ask([name])
        processor_ms = _ask(names)
    print(f"processor time of all: {processor_ms:.1f} ms, wanted: {MAX_PROCESSOR_MS:g} ms at most")
    return int(processor_ms > MAX_PROCESSOR_MS)


def _ask(names: Sequence[str]) -> float:
    """Print what some checks take; return their processor time, in milliseconds."""
    from baton_messaging.health.run import run_checks  # noqa: PLC0415 - as above

    run_checks(names, deadline_seconds=10)  # imports, and the first connections
    taken, processor = [], []
    for _ in range(ROUNDS):
        started, used = time.perf_counter(), time.process_time()
        found = run_checks(names, deadline_seconds=10)
        taken.append(1_000 * (time.perf_counter() - started))
        processor.append(1_000 * (time.process_time() - used))
    conditions = ", ".join(sorted({str(one.condition) for one in found}))
    name = names[0] if len(names) == 1 else "all together"
    print(f"{name:14} {median(taken):6.1f} ms, processor {median(processor):5.1f} ms ({conditions})")
    return median(processor)


if __name__ == "__main__":
    sys.exit(main())
