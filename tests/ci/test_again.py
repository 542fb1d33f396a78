"""What failed is run once more, alone: `.ci/again.py` on suites of a few tests, which know nothing of Baton."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

AGAIN = Path(__file__).resolve().parent.parent.parent / ".ci" / "again.py"
MAY_BE_RUN_AGAIN = 75
ONCE = """
import os, pathlib, time
import pytest

def once(name):
    "Tell whether this is the first time."
    marker = pathlib.Path(__file__).with_name(name)
    first = not marker.exists()
    marker.touch()
    return first
"""


class Project:
    """A folder of tests, and where `again.py` keeps what failed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.var = folder / "var"

    def write(self, name: str, text: str, *, options: str = "") -> Path:
        """Write a suite of one file; return its folder."""
        suite = self.folder / name
        (suite / "tests").mkdir(parents=True)
        (suite / "pytest.ini").write_text(f"[pytest]\naddopts = -p no:cacheprovider {options}\n")
        (suite / "tests" / "test_it.py").write_text(ONCE + text)
        return suite

    def again(self, *words: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """Run `again.py` as `.ci/run` does, but without the plugins of this run."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "BATON_"))}
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        command = [sys.executable, str(AGAIN), "--state", str(self.var / "again"), *words]
        return subprocess.run(
            command, cwd=cwd or self.folder, env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    def run(self, name: str, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a suite in its folder."""
        return self.again("run", name, *words, "--", sys.executable, "-m", "pytest", cwd=self.folder / name)

    def verdict(self) -> tuple[int, list[str]]:
        """Return how `again.py` ends, and what it says."""
        verdict = self.again("verdict")
        assert verdict.stderr == ""
        return verdict.returncode, verdict.stdout.splitlines()

    def unstable(self) -> list[str]:
        """Return what has been written down."""
        return (self.var / "unstable.txt").read_text().splitlines()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_suite_that_passes_is_not_run_again(project: Project) -> None:
    project.write("good", "def test_passes(): pass")
    ran = project.run("good")
    assert ran.returncode == 0
    assert "1 passed" in ran.stdout
    assert "Once more" not in project.again("rerun").stdout
    assert project.verdict() == (0, [])
    assert project.unstable() == []


def test_only_what_fails_twice_makes_the_run_red(project: Project) -> None:
    project.write(
        "mixed",
        """
def test_passes(): pass
def test_never_passes(): assert False
def test_fails_once(): assert not once("fails")

def test_is_skipped_when_alone():
    if not once("skipped"):
        pytest.skip("no answer is no pass")
    assert False

@pytest.fixture
def broken(): raise OSError("set-up")
def test_set_up_fails(broken): pass

@pytest.fixture
def untidy(request):
    yield
    assert request.node.name.endswith("once") and not once("untidy")
def test_tear_down_fails(untidy): pass
def test_tear_down_fails_once(untidy): pass

@pytest.mark.parametrize("text", ["a b", "x[y]::z; $(touch /) 'q\\" *", "é//./\\n", "fine"])
def test_with(text): assert text == "fine" or not once(ascii(text).replace("/", "_"))
""",
    )
    assert project.run("mixed").returncode == MAY_BE_RUN_AGAIN
    assert "1 passed" in project.again("rerun").stdout
    code, lines = project.verdict()
    assert code == 1
    test = "mixed: tests/test_it.py::test_"
    unstable = [
        f"{test}fails_once",
        f"{test}tear_down_fails_once",
        f"{test}with[a b]",
        f"{test}with[x[y]::z; $(touch /) 'q\" *]",
        rf"{test}with[\xe9//./\n]",
    ]
    twice = [f"{test}never_passes", f"{test}is_skipped_when_alone", f"{test}set_up_fails", f"{test}tear_down_fails"]
    said = [*(f"unstable  {name}" for name in unstable), *(f"FAILED twice  {name}" for name in twice)]
    assert sorted(lines[:-1]) == sorted(said)
    assert "It is a defect" in lines[-1]
    assert sorted(project.unstable()) == sorted(unstable)


def test_each_suite_runs_again_where_and_as_it_ran(project: Project) -> None:
    # The second begins outside of its root, as `make` may do; it needs a folder, a variable and options of its own.
    suite = project.write("one", "def test_it(): assert not once('it')")
    project.write(
        "two",
        """
def test_it():
    assert os.environ["GREETING"] == "good = day"
    assert pathlib.Path.cwd().name == "elsewhere"
    assert not once("it")
""",
    )
    (project.folder / "elsewhere").mkdir()
    shell = f"cd {project.folder}/elsewhere && {sys.executable} -m pytest -c ../two/pytest.ini ../two/tests"
    assert project.run("one").returncode == MAY_BE_RUN_AGAIN
    two = project.again("run", "two", "GREETING=good = day", "--", "sh", "-c", shell, cwd=suite)
    assert two.returncode == MAY_BE_RUN_AGAIN, two.stdout
    project.again("rerun")
    code, lines = project.verdict()
    assert code == 0
    assert lines[:2] == [f"unstable  {name}" for name in project.unstable()]
    assert project.unstable() == ["one: tests/test_it.py::test_it", "two: tests/test_it.py::test_it"]


def test_what_was_not_run_again_is_red(project: Project) -> None:
    project.write("one", "def test_it(): assert not once('it')")
    project.run("one")
    assert project.verdict() == (1, ["FAILED, and was not run again  one: tests/test_it.py::test_it"])


def test_a_test_that_hangs_is_ended(project: Project) -> None:
    project.write("slow", "def test_it():\n    assert not once('it')\n    time.sleep(60)")
    project.run("slow")
    assert "It has not ended after 1 seconds." in project.again("--limit", "1", "rerun").stdout
    assert project.verdict() == (1, ["FAILED twice  slow: tests/test_it.py::test_it"])


FAILS_ONCE = "def test_it(): assert not once('it')\n"


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        (FAILS_ONCE + "import nowhere", "--continue-on-collection-errors", "collection failed: tests/test_it.py"),
        (FAILS_ONCE + "def test_death(): os._exit(1)", "", "pytest did not end by itself"),
        (FAILS_ONCE + "def test_other(): pass", "--maxfail 1", "only 1 of 2 tests ran"),
        (FAILS_ONCE + "def test_other(): raise KeyboardInterrupt", "", "pytest ended with 2"),
        ("for n in range(21): exec(f'def test_{n}(): assert False')", "", "21 tests failed, more than 20"),
        ("", "--no-such-option", "pytest did not begin"),
    ],
)
def test_what_no_single_test_is_to_blame_for_is_red_at_once(
    project: Project, text: str, options: str, why: str
) -> None:
    project.write("bad", text, options=options)
    ran = project.run("bad")
    assert ran.returncode == 1
    assert f"bad: red without a second run: {why}" in ran.stdout
    assert project.verdict() == (0, [])


def test_an_error_within_pytest_is_red_at_once(project: Project) -> None:
    suite = project.write("bad", FAILS_ONCE)
    (suite / "conftest.py").write_text("def pytest_unconfigure(): raise OSError")
    ran = project.run("bad")
    assert ran.returncode == 1
    assert "pytest did not end by itself" in ran.stdout


def test_a_suite_that_runs_pytest_twice_is_red_at_once(project: Project) -> None:
    suite = project.write("bad", FAILS_ONCE)
    ran = project.again("run", "bad", "--", "sh", "-c", f"{sys.executable} -m pytest; false", cwd=suite)
    assert ran.returncode == MAY_BE_RUN_AGAIN
    twice = f"{sys.executable} -m pytest; {sys.executable} -m pytest"
    ran = project.again("run", "bad", "--", "sh", "-c", twice, cwd=suite)
    assert ran.returncode == 1
    assert "a suite may run pytest only once" in ran.stdout


def test_a_test_that_a_process_died_of_is_run_again(project: Project) -> None:
    project.write(
        "shared",
        """
def test_passes(): pass
def test_it():
    if once("it"):
        os._exit(1)
    assert "PYTEST_XDIST_WORKER" not in os.environ
""",
        options="-p xdist -n 1",
    )
    ran = project.run("shared")
    assert ran.returncode == MAY_BE_RUN_AGAIN, ran.stdout
    project.again("rerun")
    assert project.verdict()[0] == 0
    assert project.unstable() == ["shared: tests/test_it.py::test_it"]


@pytest.mark.parametrize(
    ("processes", "hook", "fault", "why"),
    [
        (1, "pytest_sessionfinish()", "os._exit(1)", "a process died, and not of a test"),
        (2, "pytest_runtest_logfinish()", "raise OSError", "internal error"),
    ],
)
def test_a_process_that_died_of_no_test_is_red_at_once(
    project: Project, processes: int, hook: str, fault: str, why: str
) -> None:
    suite = project.write("shared", FAILS_ONCE, options=f"-p xdist -n {processes}")
    marker = "pathlib.Path(__file__).with_name('died')"
    (suite / "conftest.py").write_text(
        f"import os, pathlib\n"
        f"def {hook}:\n"
        f"    if 'PYTEST_XDIST_WORKER' in os.environ and not {marker}.exists():\n"
        f"        {marker}.touch()\n"
        f"        {fault}\n"
    )
    ran = project.run("shared")
    assert "1 failed" in ran.stdout
    assert ran.returncode == 1
    assert f"shared: red without a second run: {why}" in ran.stdout
