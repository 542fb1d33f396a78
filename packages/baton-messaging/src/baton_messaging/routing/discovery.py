"""Modules by which the apps add to the machinery are imported when they are asked for, not at each start.

An app adds something by a module of a given name at its top, which registers it when it is imported:

| Module | registers | asked for by |
|---|---|---|
| ``tasks`` | consumers (``@consumer``) | workers, the relay, each process that must know the consumers |
| ``triage`` | what an id means (``register``) | triage |
| ``findings`` | contradictions (``@finds``) | the reconciler |
| ``doctor`` | questions about the installation (``@examines``) | ``manage.py doctor`` |
| ``health`` | checks that consumers depend on (``@health_check``) | heartbeats, triage, doctor |
| ``metrics`` | figures (``contribute``) | ``/metrics`` |

What each imports for it is in ``baton_messaging.extend``. A command at night must not wait for what it does not ask
(docs/decisions/imports-wait-until-somebody-asks.md).
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Generic, Literal, TypeVar

from django.utils.module_loading import autodiscover_modules

Module = Literal["tasks", "triage", "findings", "doctor", "health", "metrics"]
Key = TypeVar("Key")
Item = TypeVar("Item")


@cache
def discover(module: Module) -> None:
    """Import that module of every installed app that has one, once."""
    autodiscover_modules(module)


class Registry(Generic[Key, Item]):
    """What the apps add by one of those modules, each thing under its key, in the order in which it was added."""

    def __init__(self, module: Module) -> None:
        self._module: Module = module
        self._items: dict[Key, Item] = {}

    def add(self, key: Key, item: Item) -> None:
        """Add an item; it replaces the one that had the key."""
        self._items[key] = item

    def add_unique(self, key: Key, item: Item) -> None:
        """Add an item. Raises ValueError when another one has its key."""
        if self._items.setdefault(key, item) != item:
            raise ValueError(f"Expected the name to be unique, got two of {key!r}. Rename one.")

    def get(self, key: Key) -> Item | None:
        """Return the item, or None when no app has added it. Imports the apps' modules only if it is not there yet."""
        return self._items[key] if key in self._items else self.all().get(key)

    def peek(self, key: Key) -> Item | None:
        """Return the item if it is there already; asks no app."""
        return self._items.get(key)

    def all(self) -> Mapping[Key, Item]:
        """Return all items, after every app has added its own."""
        discover(self._module)
        return MappingProxyType(self._items)
