"""System checks: six questions that a design review asks of every consumer, and settings that contradict each other.

``manage.py check`` asks them of all consumers of the project, also of those that are added later. The questions, and
how to declare an exception, are explained in design-checklist.md beside this file; a finding's number begins with its
question's.

The questions are imported when they are asked: they parse the sources of the project, which no start should wait for
(docs/decisions/imports-wait-until-somebody-asks.md).
"""

from typing import Any

from django.core.checks import CheckMessage, Tags, register


@register()
def ask(**kwargs: Any) -> list[CheckMessage]:
    """Ask what holds everywhere."""
    from baton_messaging.checks.questions import ALWAYS, PREREQUISITES  # noqa: PLC0415 - see above

    missing = [finding for question in PREREQUISITES for finding in question(**kwargs)]
    return missing or [finding for question in ALWAYS for finding in question(**kwargs)]


@register(Tags.security, deploy=True)
def ask_a_deployment(**kwargs: Any) -> list[CheckMessage]:
    """Ask what holds where customers are (``check --deploy``)."""
    from baton_messaging.checks.questions import DEPLOYED  # noqa: PLC0415 - as above

    return [finding for question in DEPLOYED for finding in question(**kwargs)]
