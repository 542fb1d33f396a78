"""A registry holds what apps add by a module of theirs."""

import pytest
from baton_messaging.routing.discovery import Registry


def test_a_second_item_replaces_the_first() -> None:
    registry: Registry[str, int] = Registry("metrics")
    registry.add("exports", 1)
    registry.add("exports", 2)
    assert registry.get("exports") == 2


def test_a_unique_item_is_not_replaced_by_another() -> None:
    registry: Registry[str, int] = Registry("metrics")
    registry.add_unique("exports", 1)
    registry.add_unique("exports", 1)  # a module that is imported again
    with pytest.raises(ValueError, match="got two of 'exports'"):
        registry.add_unique("exports", 2)
    assert registry.get("exports") == 1


def test_what_no_app_has_added_is_none() -> None:
    registry: Registry[str, int] = Registry("metrics")
    assert registry.get("exports") is None


def test_all_cannot_be_changed() -> None:
    registry: Registry[str, int] = Registry("metrics")
    registry.add("exports", 1)
    with pytest.raises(TypeError):
        registry.all()["exports"] = 2  # type: ignore[index]
