"""The list of the questions: those that come first, of every start, of the sources, and of a deployment."""

from collections.abc import Callable, Sequence
from typing import Final

from django.core.checks import CheckMessage

from baton_messaging.checks import (
    celery_settings,
    idempotence,
    limits,
    names,
    ownership,
    prerequisites,
    publishing,
    responsibility,
    results,
    visibility,
)

Question = Callable[..., Sequence[CheckMessage]]

PREREQUISITES: Final[tuple[Question, ...]] = (
    prerequisites.check_own_setting,
    prerequisites.check_apps,
    prerequisites.check_database,
)
ALWAYS: Final[tuple[Question, ...]] = (
    names.check_setting_names,
    names.check_variable_names,
    celery_settings.check_celery_settings,
    limits.check_time_limits,
    limits.check_settings_against_each_other,
    limits.check_lease,
    results.check_kept_results,
    results.check_eager,
    idempotence.check_declared_idempotence,
    ownership.check_queues_of_consumers,
    ownership.check_dead_letter_routes,
    ownership.check_acknowledgement,
    responsibility.check_own_queue,
    visibility.check_discovery,
    visibility.check_events,
    visibility.check_dependencies,
)
OF_SOURCES: Final[tuple[Question, ...]] = (
    publishing.check_publishing,
    results.check_waiting,
    idempotence.check_effects_outside,
    responsibility.check_imports,
)
DEPLOYED: Final[tuple[Question, ...]] = (ownership.check_owner_addresses,)
