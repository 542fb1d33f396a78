"""How a check says what it objects to: what is wrong, what to do, and where that is explained."""

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

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
    kind = Error if check_id.startswith("E") else Warning
    return kind(text, hint=f"{hint}\n\tSee {PAGE}#{ANCHORS[check_id[1]]}", id=f"baton.{check_id}")
