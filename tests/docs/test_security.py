"""The page on security shows the rights as the code has them."""

import re

from baton_dev.project import PROJECT_DIR
from baton_messaging.audit.rights import Right

from orders.rights import Right as OrdersRight

NAMED_TEST = re.compile(r"`((?:packages/[\w-]+/)?tests/[\w/]+\.py)`")
PAGE = (PROJECT_DIR / "docs" / "security.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]


def test_the_machinerys_rights_are_in_the_table_word_by_word() -> None:
    for right in Right:
        assert [right.action, f"`{right.permission}`"] in [[cell.strip(" |") for cell in row] for row in ROWS]


def test_each_right_of_the_samples_has_its_row() -> None:
    permissions = [row[1].strip(" |") for row in ROWS if len(row) == 2]
    assert {f"`{right.value}`" for right in OrdersRight} <= set(permissions)


def test_the_table_names_no_permission_that_nothing_asks_for() -> None:
    known = {right.permission for right in Right} | {right.value for right in OrdersRight}
    named = {row[1].strip(" |`") for row in ROWS if len(row) == 2 and "." in row[1] and row[1].startswith("`")}
    assert {name for name in named if name.startswith(("orders.", "baton_messaging."))} <= known


def test_the_page_names_tests_that_exist() -> None:
    named = NAMED_TEST.findall(PAGE)
    assert len(named) > 20
    assert [path for path in named if not (PROJECT_DIR / path).exists()] == []
