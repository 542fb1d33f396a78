"""Settings examined against each other and against the broker's: without asking a server."""

from collections.abc import Iterator
from typing import Any

from celery import current_app
from django.core import checks
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.broker.options import RENEWALS_PER_LEASE
from baton_messaging.conf import baton
from baton_messaging.consumer import consumer_tasks
from baton_messaging.diagnosis.doctor.examination import examines
from baton_messaging.health.diagnosis import Diagnosis, observed
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import duration


@examines("system checks", deadline_seconds=15)  # cut to the rest of the doctor's time: only this machine may be busy
def examine_settings() -> Iterator[Diagnosis]:
    """Run ``manage.py check``: the code's own contradictions."""
    found = [message for message in checks.run_checks() if message.is_serious()]
    names = ", ".join(sorted({str(message.id) for message in found}))
    yield observed(
        not found,
        _("system checks"),
        about=Resource(Kind.SETTING, "system checks"),
        found=format_lazy("{ids}: {first}", ids=names, first=_first_line(found[0])) if found else _("no objection"),
        wanted=_("no objection"),
        remedy=_("Read what is objected to, each with its remedy."),
        command="python manage.py check",
    )


def _first_line(message: checks.CheckMessage) -> str:
    return str(message.msg).partition("\n")[0]


@examines("lease and time limits")
def examine_limits() -> Iterator[Diagnosis]:
    """Compare the broker's timeout with the longest hard limit (F02, F41)."""
    name, limit = _longest_limit()
    options: dict[str, Any] = current_app.conf.broker_transport_options
    if "visibility_timeout" not in options:
        timeout = baton().broker_consumer_timeout_seconds
        yield observed(
            limit < timeout,
            _("consumer timeout of the broker"),
            about=Resource(Kind.SETTING, "consumer_timeout"),
            found=f"{duration(timeout)} (BROKER_CONSUMER_TIMEOUT_SECONDS)",
            wanted=format_lazy(_("more than {limit}, the hard limit of {name}"), limit=duration(limit), name=name),
            remedy=_("Raise RabbitMQ's consumer_timeout and the setting: a second worker would be given the message."),
        )
        return
    timeout, renewal = options["visibility_timeout"], options["lease_renewal_seconds"]
    yield observed(
        renewal * RENEWALS_PER_LEASE <= timeout,
        _("lease of a running task"),
        about=Resource(Kind.SETTING, "visibility_timeout"),
        found=format_lazy(
            _("visibility timeout {timeout}, renewed every {renewal}"),
            timeout=duration(timeout),
            renewal=duration(renewal),
        ),
        wanted=format_lazy(
            _("{count} renewals or more per timeout; no limit on how long a task runs"), count=RENEWALS_PER_LEASE
        ),
        remedy=_("Change lease_renewal_seconds: running tasks would run a second time."),
    )


def _longest_limit() -> tuple[str, float]:
    limits = [(float(task.time_limit), str(task.name)) for task in consumer_tasks()]
    limit, name = max(limits, default=(0.0, _("no consumer")))
    return str(name), limit
