"""How a check says what it objects to: a diagnosis of the project's code or settings, shown as Django shows its checks.

What is wrong is its ``found``, what to do its ``remedy``; the page that explains the question comes with it.
"""

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from baton_messaging.health.diagnosis import Diagnosis, Status
from baton_messaging.health.resource import Kind, Resource

PAGE = "baton_messaging/checks/design-checklist.md"  # travels with the package
ANCHORS = {
    "0": "settings-and-limits",
    "1": "1-is-the-producers-success-defined",
    "2": "2-can-a-consumers-failure-reach-the-producer",
    "3": "3-is-it-idempotent",
    "4": "4-is-there-a-dead-letter-route-and-an-owner",
    "5": "5-has-it-one-responsibility",
    "6": "6-can-progress-be-seen",
    "7": "celerys-settings",
}


def objection(check_id: str, text: str, *, hint: str) -> CheckMessage:
    """Return the message ``baton.<check_id>``; E is an error, W a warning, the first digit the question's."""
    about = Resource(Kind.SETTING, f"baton.{check_id}")
    page = f"{PAGE}#{ANCHORS[check_id[1]]}"
    return as_message(Diagnosis(about, "system checks", Status.FINDING, text, remedy=hint, link=page))


def as_message(diagnosis: Diagnosis) -> CheckMessage:
    """Return the diagnosis of a setting as Django's checks have it."""
    check_id = diagnosis.about.name
    kind = Error if check_id.startswith("baton.E") else Warning
    return kind(str(diagnosis.found), hint=f"{diagnosis.remedy}\n\tSee {diagnosis.link}", id=check_id)
