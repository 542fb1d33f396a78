"""Names of a project and its app: what Python, Django or Baton has another use for is refused in one sentence."""

import sysconfig

import pytest
from baton_dev.new.names import MAX_LENGTH, BadName, check_name

INSTALLED = [sysconfig.get_path("purelib")]


@pytest.mark.parametrize("name", ["billing", "invoices2", "my_app", "parcels", "x", "a" * MAX_LENGTH])
def test_a_name_that_nobody_else_has_is_taken(name: str) -> None:
    check_name("APP", name, search=INSTALLED)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "missing"),
        ("9lives", "no name of small letters"),
        ("my-app", "no name of small letters"),
        ("my app", "no name of small letters"),
        ("Billing", "no name of small letters"),
        ("händler", "no name of small letters"),
        ("../x", "no name of small letters"),
        ("billing\n", "no name of small letters"),
        ("a" * (MAX_LENGTH + 1), "longer than"),
        ("class", "keyword"),
        ("match", "keyword"),
        ("json", "module of Python's"),
        ("config", "taken"),
        ("baton", "taken"),
        ("admin", "taken"),
        ("django", "installed package"),
        ("celery", "installed package"),
    ],
)
def test_any_other_is_refused_in_one_sentence(name: str, why: str) -> None:
    with pytest.raises(BadName, match=why) as refused:
        check_name("APP", name, search=INSTALLED)
    assert str(refused.value).startswith("APP: ")
    assert len(str(refused.value).splitlines()) == 1
