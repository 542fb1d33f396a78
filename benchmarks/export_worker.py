"""``python -m benchmarks.export_worker WARM_UP_ID EXPORT_ID``: build exports as a worker does, and print what it took.

A process of its own, so that its memory is that of a worker: idle after a first small export, and at its highest
during the one that is measured. One line of JSON: seconds, idle_mb, peak_mb.
"""

import json
import sys
import time
from pathlib import Path
from uuid import UUID


def main() -> None:
    import django  # noqa: PLC0415

    django.setup()
    warm_up_id, export_id = (UUID(argument) for argument in sys.argv[1:3])
    _build(warm_up_id)
    idle_mb = _memory_mb("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far (proc(5))
    started = time.perf_counter()
    _build(export_id)
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "idle_mb": idle_mb, "peak_mb": _memory_mb("VmHWM")}))


def _build(export_id: UUID) -> None:
    from orders.exports.building import build  # noqa: PLC0415

    build(export_id, worker="bench")


def _memory_mb(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


if __name__ == "__main__":
    main()
