"""Each error of the package survives the way from a child to its worker, which is pickle."""

import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from types import UnionType
from typing import Any, get_args, get_type_hints
from uuid import UUID, uuid4

import baton_messaging
import pytest

#: A value for each type that an error is made of.
SAMPLES: dict[Any, Any] = {
    str: "a text",
    int: 7,
    float: 7.5,
    UUID: uuid4(),
    datetime: datetime(2026, 12, 1, tzinfo=UTC),
    BaseException: ValueError("why"),
    Exception: ValueError("why"),
    list[tuple[str, str]]: [("order", "1"), ("export", "2")],
}

#: Packages of Django's, and what needs more than the package has: an extra, an app that a project names.
NOT_IMPORTED = (".migrations", "management.commands", ".prometheus", ".database_scheduler")


def error_classes() -> Iterator[type[BaseException]]:
    for module in pkgutil.walk_packages(baton_messaging.__path__, "baton_messaging."):
        if any(part in module.name for part in NOT_IMPORTED):
            continue
        for _name, found in inspect.getmembers(import_module(module.name), inspect.isclass):
            if issubclass(found, BaseException) and found.__module__ == module.name:
                yield found


def sample(hint: Any) -> Any:
    if isinstance(hint, UnionType):
        return sample(get_args(hint)[0])
    return SAMPLES.get(hint, ["one", "two"])


def made(error_class: type[BaseException]) -> BaseException:
    """Make an error as its code does."""
    initializer = error_class.__init__
    if not inspect.isfunction(initializer) or not initializer.__module__.startswith("baton_messaging"):
        return error_class("a text")
    hints = get_type_hints(initializer)
    parameters = list(inspect.signature(initializer).parameters.values())[1:]
    positional = [sample(hints[one.name]) for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    named = {one.name: sample(hints[one.name]) for one in parameters if one.kind is one.KEYWORD_ONLY}
    return error_class(*positional, **named)


@pytest.mark.parametrize("error_class", [*error_classes()], ids=lambda found: found.__qualname__)
def test_an_error_survives_pickling(error_class: type[BaseException]) -> None:
    error = made(error_class)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is error_class
    assert str(again) == str(error)
    assert repr(vars(again)) == repr(vars(error))
