"""The list of the questions: those that come first, those that are always asked, and those of a deployment."""

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
    publishing.check_publishing,
    results.check_kept_results,
    results.check_waiting,
    results.check_eager,
    idempotence.check_declared_idempotence,
    idempotence.check_effects_outside,
    ownership.check_queues_of_consumers,
    ownership.check_dead_letter_routes,
    ownership.check_acknowledgement,
    responsibility.check_own_queue,
    responsibility.check_imports,
    visibility.check_discovery,
    visibility.check_events,
)
DEPLOYED: Final[tuple[Question, ...]] = (ownership.check_owner_addresses,)
