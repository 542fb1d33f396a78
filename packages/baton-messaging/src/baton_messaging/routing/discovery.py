"""Modules by which the apps add to the machinery are imported when they are asked for, not at each start.

An app adds something by a module of a given name at its top, which registers it when it is imported:

| Module | registers | asked for by |
|---|---|---|
| ``tasks`` | consumers (``@consumer``) | workers, the relay, whoever must know who consumes what |
| ``triage`` | what an id means (``register``) | triage |
| ``findings`` | contradictions (``@finds``) | the reconciler |
| ``doctor`` | questions about the installation (``@examines``) | ``manage.py doctor`` |
| ``metrics`` | figures (``contribute``) | ``/metrics`` |

What each imports for it is in ``baton_messaging.extend``. A command at night must not wait for what it does not ask
(docs/decisions/imports-wait-until-somebody-asks.md).
"""

from functools import cache
from typing import Literal

from django.utils.module_loading import autodiscover_modules

Module = Literal["tasks", "triage", "findings", "doctor", "health", "metrics"]


@cache
def discover(module: Module) -> None:
    """Import that module of every installed app that has one, once."""
    autodiscover_modules(module)
