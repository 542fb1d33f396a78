"""``python -m benchmarks``: run all measurements once and print every figure. `make bench ARGS="--only consume"`.

Exits with 0 also when a target is missed (a busy machine is no fault of the code), unless ``--strict``.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Section
from benchmarks.rounds import Rounds
from benchmarks.servers import servers

STATE_DIR = Path(__file__).resolve().parent.parent / "var" / "bench"
PARTS = ("accept", "consume", "latency", "exports", "diagnosis")


def main() -> int:
    """Measure and print."""
    options = _options()
    with servers(options.state_dir):
        sections = []
        for section in _measure(options):
            print(section, flush=True)
            sections.append(section)
    missed = [check.name for section in sections for check in section.checks if not check.is_met]
    print(f"{len(missed)} targets missed: {', '.join(missed)}" if missed else "All targets met.")
    return 1 if missed and options.strict else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to run")
    parser.add_argument("--rounds", type=int, default=8, help="times that each side is measured at most (default: 8)")
    parser.add_argument(
        "--seconds", type=float, default=75, help="after which a part begins no other round (default: 75)"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="factor on all message counts (default: 1)")
    parser.add_argument("--state-dir", type=Path, default=STATE_DIR, help="directory of data and logs")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a target is missed")
    return parser.parse_args()


def _measure(options: argparse.Namespace) -> Iterator[Section]:
    _set_up()
    # Models can be imported only now.
    from benchmarks import machine  # noqa: PLC0415

    print(machine.describe(), flush=True)
    yield machine.steps()
    if {"accept", "consume", "latency"} & set(options.only):
        yield from _on_stage(options)
    if "exports" in options.only:
        yield from _exports(options)
    if "diagnosis" in options.only:
        from benchmarks import diagnosis  # noqa: PLC0415

        yield from diagnosis.measure(rounds=options.rounds)


def _on_stage(options: argparse.Namespace) -> Iterator[Section]:
    from benchmarks import accept, consume, latency  # noqa: PLC0415
    from benchmarks.stage import stage  # noqa: PLC0415

    rounds, scale = Rounds(options.rounds, options.seconds), options.scale
    with stage(options.state_dir / "log") as everybody:
        if "accept" in options.only:
            # Short and many: what disturbs the machine for a second then hits both sides.
            many = Rounds(3 * options.rounds, options.seconds)
            yield accept.measure(rounds=many, request_count=max(6, round(100 * scale)))
        if "consume" in options.only:
            yield from consume.measure(everybody, rounds=rounds, scale=scale)
        if "latency" in options.only:
            yield latency.measure(everybody, message_count=max(3, round(60 * scale)))


def _set_up() -> None:
    import django  # noqa: PLC0415 - reads the environment that `servers` has just completed
    from django.core.management import call_command  # noqa: PLC0415

    django.setup()
    from benchmarks.models import let_effects_be_timed  # noqa: PLC0415

    call_command("migrate", run_syncdb=True, verbosity=0)
    let_effects_be_timed()


def _exports(options: argparse.Namespace) -> Iterator[Section]:
    from benchmarks import exports  # noqa: PLC0415

    yield from exports.run(scale=options.scale, round_count=options.rounds)


if __name__ == "__main__":
    sys.exit(main())
