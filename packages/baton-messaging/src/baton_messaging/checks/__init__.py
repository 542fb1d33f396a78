"""System checks: six questions that a design review asks of every consumer, and settings that contradict each other.

``manage.py check`` asks them of all consumers of the project, also of those that are added later. The questions, and
how to declare an exception, are explained in design-checklist.md beside this file; a finding's number begins with its
question's.

Those that read the sources of the project are asked by ``manage.py check --deploy`` (alone: with ``--tag design``), as
``make lint`` does, and by no other start: in the sample shop they are 50 of the 63 ms that all questions take, and that
grows with the project. All are imported when they are asked (docs/decisions/imports-wait-until-somebody-asks.md).
"""

from typing import Any, Final

from django.core.checks import CheckMessage, Tags, register

DESIGN: Final = "design"  # the tag of the questions that read the sources


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


@register(DESIGN, deploy=True)
def ask_the_sources(**kwargs: Any) -> list[CheckMessage]:
    """Ask what only the sources of the project can answer."""
    from baton_messaging.checks.questions import OF_SOURCES, PREREQUISITES  # noqa: PLC0415 - as above

    if any(question(**kwargs) for question in PREREQUISITES):  # said by ``ask``
        return []
    return [finding for question in OF_SOURCES for finding in question(**kwargs)]
