"""Redaction of secrets from observations: an error of a server or a library may quote them."""

from dataclasses import replace

from baton_messaging.diagnosis.doctor.examination import Observation
from baton_messaging.health.redaction import without_secrets


def redacted(observation: Observation) -> Observation:
    """Return the observation with every secret of the settings replaced."""
    return replace(observation, found=without_secrets(observation.found), remedy=without_secrets(observation.remedy))
