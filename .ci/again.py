"""Run the tests that failed once more, each alone: what passes then is unstable, what fails again makes the run red.

    again.py run NAME [VARIABLE=VALUE ...] -- COMMAND ...

runs a suite: a command that runs pytest once, in any folder and with any Python (`record_failures.py` notes both). It
ends with 0 if all is well, with 75 if what failed may be run again, with the variables set; else with 1 and the reason.

    again.py rerun
    again.py verdict

run what failed in all suites, and say what came of it; the verdict ends with 0 if nothing failed twice.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STATE = HERE.parent / "var" / "again"
MOST = 20  # tests of a suite; more of them are no instability
LIMIT = 300.0  # seconds for a test
GRACE = 15  # seconds that pytest has to stop what it started
MAY_BE_RUN_AGAIN = 75

Report = dict[str, Any]  # what record_failures.py wrote; a suite's, with its name, its variables and what came of it


def run(state: Path, name: str, variables: dict[str, str], command: list[str]) -> int:
    """Run a suite. Keep its report if the tests that failed may be run again."""
    state.mkdir(parents=True, exist_ok=True)
    file = state / f"{len(list(state.glob('*.report'))):02}.report"
    code = subprocess.run(command, env=_environment(variables, file), check=False).returncode
    report = _read(file)
    if code == 0 and not (report and report["broken"]):
        return 0
    if whys := _why_not(report, code):
        print(*(f"{name}: red without a second run: {why}" for why in whys), sep="\n", flush=True)
        return 1
    suite = {"name": name, "variables": variables, "again": {}, **(report or {})}
    file.with_suffix(".suite").write_text(json.dumps(suite))
    return MAY_BE_RUN_AGAIN


def rerun(state: Path, limit: float) -> int:
    """Run each test that failed once more. Note after each what came of it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background would ignore it, and so pytest
    for file in sorted(state.glob("*.suite")):
        suite: Report = json.loads(file.read_text())
        for test in suite["failed"]:
            print(f"\n=== Once more: {suite['name']}: {test}", flush=True)
            suite["again"][test] = _passes(suite, test, file.with_suffix(".alone"), limit)
            file.write_text(json.dumps(suite))
    return 0


def verdict(state: Path) -> int:
    """Say of each test that failed what it is. Write down which are unstable."""
    words = {True: "unstable", False: "FAILED twice", None: "FAILED, and was not run again"}
    suites: list[Report] = [json.loads(file.read_text()) for file in sorted(state.glob("*.suite"))]
    found = [(suite["again"].get(test), f"{suite['name']}: {test}") for suite in suites for test in suite["failed"]]
    for passed, test in found:
        print(f"{words[passed]}  {test}")
    unstable = [f"{test}\n" for passed, test in found if passed]
    state.mkdir(parents=True, exist_ok=True)
    state.with_name("unstable.txt").write_text("".join(unstable))
    if unstable:
        print("Unstable means failed, then passed alone. It is a defect, of the test or of what it tests: mend it.")
    return int(len(unstable) < len(found))


def _read(file: Path) -> Report | None:
    return json.loads(file.read_text()) if file.exists() else None


def _why_not(report: Report | None, code: int) -> list[str]:
    """Tell why a suite that ended with ``code`` is red whatever its tests do alone."""
    if report is None:
        return [f"pytest did not begin; the command ended with {code}"]
    if report["broken"]:
        return list(report["broken"])
    if report["exit"] != 1 or not report["failed"]:
        return [f"pytest ended with {report['exit']}, the command with {code}, {len(report['failed'])} tests failed"]
    if len(report["failed"]) > MOST:
        return [f"{len(report['failed'])} tests failed, more than {MOST}"]
    return []


def _passes(suite: Report, test: str, file: Path, limit: float) -> bool:
    """Run a test alone, as its suite ran it. A test that is skipped or not found this time has not passed."""
    file.unlink(missing_ok=True)
    command = [suite["python"], "-m", "pytest", *suite["options"], "--rootdir", suite["root"]]
    command += ["-c", suite["ini"]] if suite["ini"] else []
    command += [test if suite["root"] == suite["folder"] else f"{suite['root']}/{test}"]
    ours = _environment(suite["variables"], file)
    process = subprocess.Popen(command, cwd=suite["folder"], env=ours, start_new_session=True)
    try:
        if process.wait(limit) != 0:
            return False
    except subprocess.TimeoutExpired:
        print(f"It has not ended after {limit:g} seconds.", flush=True)
        return False
    finally:
        _end(process)
    report = _read(file)
    return report is not None and report["passed"] > 0 and not report["broken"]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a pytest that still runs, and what it leaves behind: it is asked first, for it may have started servers."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _environment(variables: dict[str, str], file: Path) -> dict[str, str]:
    """Return the environment of a pytest that records its failures in a file."""
    theirs = {**os.environ, **variables}
    path = os.pathsep.join(filter(None, [str(HERE), theirs.get("PYTHONPATH")]))
    options = f"{theirs.get('PYTEST_ADDOPTS', '')} -p record_failures"
    return {**theirs, "PYTHONPATH": path, "PYTEST_ADDOPTS": options, "BATON_FAILURES_FILE": str(file.resolve())}


def main(words: list[str]) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description="Run the tests that failed once more, each alone.")
    parser.add_argument("action", choices=["run", "rerun", "verdict"])
    parser.add_argument("words", nargs="*", help="run: the suite's name, variables, then -- and the command")
    parser.add_argument("--state", type=Path, default=STATE, help="where to keep what has failed")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each test that is run again")
    end = words.index("--") if "--" in words else len(words)
    own, command = parser.parse_args(words[:end]), words[end + 1 :]
    if own.action == "run":
        if not own.words or not command:
            parser.error("run needs a name, and a command behind --")
        return run(own.state, own.words[0], dict(word.split("=", 1) for word in own.words[1:]), command)
    return rerun(own.state, own.limit) if own.action == "rerun" else verdict(own.state)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
