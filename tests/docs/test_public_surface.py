"""The page of the public surface names what the modules export, no more and no less, and says something of each."""

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from baton_messaging import extend

from tests.config.test_contracts import PUBLIC

PAGE = Path("docs/public-surface.md").read_text()
MODULES = [*(f"baton_messaging.{name}" for name in sorted(PUBLIC))]
MODULES += [f"baton_messaging.extend.{module.name}" for module in iter_modules(extend.__path__)]


def names_on_page(module: str) -> dict[str, str]:
    section = re.search(rf"^## {re.escape(module)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section, f"docs/public-surface.md has no section {module}"
    return dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", section[1], re.MULTILINE))


@pytest.mark.parametrize("module", MODULES)
def test_the_page_names_what_the_module_exports(module: str) -> None:
    exported = import_module(module)
    assert sorted(names_on_page(module)) == sorted(exported.__all__)
    for name, text in names_on_page(module).items():
        assert hasattr(exported, name), name
        assert len(text) > 10, f"{module}.{name} is not explained"


def test_the_page_has_no_other_sections() -> None:
    assert sorted(re.findall(r"^## (.+)$", PAGE, re.MULTILINE)) == sorted(MODULES)
