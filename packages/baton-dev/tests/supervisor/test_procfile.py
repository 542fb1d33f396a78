"""The Procfile is read: names, commands in their order, and what is no line of it."""

from pathlib import Path

import pytest
from baton_dev.supervisor.procfile import Program, read_procfile


def test_names_and_commands_are_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "Procfile"
    path.write_text("# a comment\n\nweb:  serve --title 'a b'\nworker-1: work\n")

    assert read_procfile(path) == (
        Program("web", ("serve", "--title", "a b")),
        Program("worker-1", ("work",)),
    )


def test_a_line_that_is_no_program_is_named(tmp_path: Path) -> None:
    path = tmp_path / "Procfile"
    path.write_text("web: serve\nworker\n")

    with pytest.raises(ValueError, match="Procfile, line 2: expected `name: command`, got 'worker'"):
        read_procfile(path)
