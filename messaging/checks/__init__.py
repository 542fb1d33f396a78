"""System checks: six questions that a design review asks of every consumer, and settings that contradict each other.

``manage.py check`` asks them of all consumers of the project, also of those that are added later. The questions, and
how to declare an exception, are explained in docs/design-checklist.md; a finding's number begins with its question's.
"""

from messaging.checks import (  # noqa: F401 - importing registers
    idempotence,
    limits,
    names,
    ownership,
    publishing,
    responsibility,
    results,
    visibility,
)
