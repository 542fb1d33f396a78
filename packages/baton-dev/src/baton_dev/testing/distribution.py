"""Distribution of tests over processes, as a pytest plugin: which share one, and which begin first.

Ini options: ``together`` has a line for each group of tests that share what takes long to start (a whole stack, a
RabbitMQ) and stay in one process: starts of node ids; of two lines the first that fits counts. ``begin_with`` lists
starts of node ids in the order in which they are to begin: so that no process is left alone with them at the end.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini options."""
    parser.addini("together", "groups of tests that stay in one process", type="linelist", default=[])
    parser.addini("begin_with", "starts of node ids that begin first", type="linelist", default=[])


class FileByFile(LoadFileScheduling):
    """Keep the tests of a file, and of each group, in one process; hand them out in the order they were found in."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        config.option.loadscopereorder = False
        self._together: list[str] = config.getini("together")
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        if "/test_browser.py::" in nodeid:
            return "browser"  # which takes seconds of processor time to start
        for group in self._together:
            if nodeid.startswith(tuple(group.split())):
                return group
        return str(super()._split_scope(nodeid))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""
    begin_with: list[str] = config.getini("begin_with")

    def place(item: pytest.Item) -> int:
        places = [place for place, start in enumerate(begin_with) if item.nodeid.startswith(start)]
        return max(places, default=len(begin_with))

    items.sort(key=place)  # keeps the random order otherwise


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileByFile:
    """Share the tests out over the processes of ``-n``."""
    return FileByFile(config, log)
