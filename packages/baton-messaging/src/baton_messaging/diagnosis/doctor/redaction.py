"""Redaction of secrets from diagnoses: an error of a server or a library may quote them."""

from collections.abc import Iterable
from dataclasses import replace

from baton_messaging.health.diagnosis import Diagnosis
from baton_messaging.health.redaction import without_secrets


def redacted(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Return the diagnoses, in the active language, with every secret of the settings replaced."""
    return [_redacted(one) for one in diagnoses]


def _redacted(one: Diagnosis) -> Diagnosis:
    return replace(
        one,
        found=without_secrets(str(one.found)),
        remedy=without_secrets(str(one.remedy)),
        command=without_secrets(one.command),
        victims=tuple(redacted(one.victims)),
    )
