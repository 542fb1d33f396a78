"""The screen: every line under the name of its process, nothing shown twice, nothing lost when a log is renamed."""

from collections.abc import Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from baton_dev.console import Console


class Screen:
    """A console over log files that the test writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._out = StringIO()
        self._console = Console(folder, ["web", "worker"], silent=["postgres"], out=self._out)
        self.close = self._console.close

    def write(self, name: str, text: str) -> None:
        with (self.folder / f"{name}.log").open("a") as file:
            file.write(text)

    def news(self) -> list[str]:
        start = self._out.tell()
        self._console.show_news()
        return self._out.getvalue()[start:].splitlines()


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with closing(Screen(tmp_path)) as screen:
        yield screen


def test_each_line_is_shown_once_under_the_name_of_its_process(screen: Screen) -> None:
    screen.write("web", "hello\nbye\n")
    screen.write("worker", "ready\n")

    assert screen.news() == ["web      | hello", "web      | bye", "worker   | ready"]
    assert screen.news() == []


def test_a_line_is_shown_when_it_is_complete(screen: Screen) -> None:
    screen.write("web", "hel")
    assert screen.news() == []

    screen.write("web", "lo\n")
    assert screen.news() == ["web      | hello"]


def test_what_an_earlier_run_wrote_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "web.log").write_text("old\n")
    with closing(Screen(tmp_path)) as screen:
        screen.write("web", "new\n")

        assert screen.news() == ["web      | new"]


def test_nothing_is_lost_when_a_log_file_is_renamed(screen: Screen) -> None:
    screen.write("web", "one\n")
    screen.news()
    screen.write("web", "two\n")
    (screen.folder / "web.log").rename(screen.folder / "web.log.1")
    screen.write("web", "three\n")

    assert screen.news() + screen.news() + screen.news() == ["web      | two", "web      | three"]


def test_bytes_that_are_no_text_harm_nothing(screen: Screen) -> None:
    (screen.folder / "web.log").write_bytes(b"caf\xe9\n")

    assert screen.news() == ["web      | caf\N{REPLACEMENT CHARACTER}"]


@pytest.mark.parametrize(
    ("logged", "shown"),
    [
        ("INFO spawned: 'web' with pid 7", ["web      | started (pid 7)"]),
        (
            "WARN exited: web (terminated by SIGKILL; not expected)",
            ["web      | was killed by SIGKILL; it is started again"],
        ),
        (
            "WARN exited: web (exit status 1; not expected)",
            ["web      | ended with exit status 1; it is started again"],
        ),
        ("INFO stopped: postgres (exit status 0)", ["postgres | stopped"]),
        ("CRIT Server 'unix_http_server' running without any HTTP authentication checking", []),
    ],
)
def test_the_supervisor_speaks_plainly(screen: Screen, logged: str, shown: list[str]) -> None:
    screen.write("supervisord", f"2026-01-31 12:00:00,000 {logged}\n")

    assert screen.news() == shown


def test_a_reader_who_leaves_is_noticed(tmp_path: Path) -> None:
    class Gone(StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with closing(Console(tmp_path, ["web"], out=Gone())) as console:
        console.say("hello")

        assert console.is_closed
