"""``make blame`` runs each suite on each broker, prints a table for each, and the total of all.

    python -m baton_dev.blame [--broker redis|rabbitmq] [--only WORD] [--skip N] [--patience N] [FOLDER ...]

Exit code 1 if any answer is wrong or late, 2 if there is no such fault. Each run has servers of its own, in a folder of
its own.
"""

import argparse
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from baton_dev.testing.rabbitmq import is_installed


def main() -> int:
    """Run the suites of the folders that are named."""
    parser = argparse.ArgumentParser(
        prog="python -m baton_dev.blame", description="Inject faults, and ask whose they are."
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER", default=["."], help="where a suite is: tests/blame")
    parser.add_argument("--broker", choices=["redis", "rabbitmq"], help="only this one")
    parser.add_argument("--only", default="", help="only faults with this in their module or name")
    parser.add_argument("--skip", type=int, default=0, help="begin after so many faults")
    parser.add_argument("--patience", type=float, default=1.0, help="with a busy machine: a factor of all time limits")
    options = parser.parse_args()
    brokers = [options.broker] if options.broker else ["redis", *(["rabbitmq"] if is_installed() else [])]
    words = ["--only", options.only, "--skip", str(options.skip), "--patience", str(options.patience)]
    runs = [(folder, broker, *_run(folder, broker, words)) for folder, broker in product(options.folders, brokers)]
    for folder, broker, right_count, count in runs:
        print(f"{folder} on {broker}: {right_count} of {count} right")
    right, total = sum(run[2] for run in runs), sum(run[3] for run in runs)
    print(f"total: {right} of {total} right", flush=True)
    if not total:
        return 2
    return int(right < total)


def _run(folder: str, broker: str, words: list[str]) -> tuple[int, int]:
    """Run one suite on one broker, in a process of its own, for Celery and Django are set up for one.

    Return how many answers were right, and how many there were; a run that broke off counts as a wrong answer.
    """
    with tempfile.TemporaryDirectory(prefix="baton-blame-") as state:
        report = Path(state) / "report"
        command = [sys.executable, "-m", "baton_dev.blame.run", broker, state, "--report", str(report), *words]
        code = subprocess.run(command, cwd=folder, check=False).returncode
        right, count = (int(word) for word in report.read_text().split()) if report.exists() else (0, 0)
    return right, count + int(code != 0)


if __name__ == "__main__":
    sys.exit(main())
