"""What is held back examined: pauses, open circuits and retries that wait for longer than they were meant to."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Final

from django.db.models import F
from django.db.models.functions import Now
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import Team, baton
from baton_messaging.diagnosis import commands
from baton_messaging.diagnosis.doctor.examination import DATABASE, examines, or_well
from baton_messaging.diagnosis.links import list_link
from baton_messaging.diagnosis.servers.service import failing, is_of_outside
from baton_messaging.health.dependencies import checks_of
from baton_messaging.health.diagnosis import Diagnosis, finding, observed
from baton_messaging.health.resource import Kind, Resource
from baton_messaging.health.wording import duration
from baton_messaging.models import Attempt, Circuit, Pause
from baton_messaging.routing.ownership import owner_of, platform_owner

#: In which an attempt that failed, and waits for its next, tells of what is so now.
RECENT: Final = timedelta(minutes=15)


@examines("pauses", needs=(DATABASE,), is_quick=True)
def examine_pauses() -> list[Diagnosis]:
    """Find pauses that are older than a person means them to be."""
    allowed = baton().pause_age_seconds
    old = Pause.objects.in_force().filter(paused_at__lt=Now() - timedelta(seconds=allowed))
    wanted = format_lazy(_("none in force for longer than {age}"), age=duration(allowed))
    found = [
        finding(
            Resource(Kind.DATA, f"pause {pause.pk}"),
            format_lazy(_("pause of {target}"), target=pause.target),
            found=format_lazy(
                _("in force for {age}, by {who}: {why}"),
                age=duration(pause.age.total_seconds()),  # type: ignore[attr-defined]
                who=pause.paused_by,
                why=pause.why,
            ),
            wanted=wanted,
            remedy=_("Ask the one who paused it. When the reason is gone, resume it."),
            command=f"python manage.py consumers resume {_words(pause)} --why …",
            link=list_link("pause", resumed_at__isempty=1),
            owner=_owner_of(pause),
            since=pause.paused_at,
        )
        for pause in old.annotate(age=Now() - F("paused_at")).order_by("paused_at")
    ]
    return or_well(found, _("pauses"), found=_("none that is old"), wanted=wanted)


def _words(pause: Pause) -> str:
    return pause.consumer or f"--event={pause.event_name} --key={pause.key}"


def _owner_of(pause: Pause) -> Team:
    return owner_of(pause.consumer) if pause.consumer else platform_owner()


@examines("circuits", needs=(DATABASE,), is_quick=True)
def examine_circuits() -> list[Diagnosis]:
    """Find circuits that have been open for long: what their consumer depends on has not come back."""
    allowed = baton().circuit_age_seconds
    old = Circuit.objects.open().filter(opened_at__lt=Now() - timedelta(seconds=allowed))
    wanted = format_lazy(_("none open for longer than {age}"), age=duration(allowed))
    found = [
        finding(
            Resource(Kind.CONSUMER, circuit.consumer),
            format_lazy(_("circuit of {consumer}"), consumer=circuit.consumer),
            found=format_lazy(
                _("open for {age}: its messages fail on {error}, {count} probes have failed"),
                age=duration(circuit.age.total_seconds()),  # type: ignore[attr-defined]
                error=circuit.error_class,
                count=circuit.probe_count,
            ),
            wanted=wanted,
            remedy=_("Mend what it depends on; it closes by itself with the first probe that succeeds."),
            link=list_link("circuit"),
            owner=owner_of(circuit.consumer),
            since=circuit.opened_at,
        )
        for circuit in old.annotate(age=Now() - F("opened_at")).order_by("opened_at")
    ]
    return or_well(found, _("circuits"), found=_("none open for long"), wanted=wanted)


@examines("services that consumers fail on", needs=(DATABASE,), is_quick=True)
def examine_services() -> Iterator[Diagnosis]:
    """Find servers on which consumers fail that name them (``depends_on``): the work meets more than any check asks."""
    recent = Attempt.objects.filter(sent_at=None, failed_at__gt=Now() - RECENT)
    errors = recent.order_by("consumer", "-failed_at").distinct("consumer")
    found: dict[str, Diagnosis] = {}
    for consumer, error_class, text in errors.values_list("consumer", "error_class", "error_message"):
        for name in checks_of(consumer)[:1] if is_of_outside(error_class) else ():
            found.setdefault(name, failing(name, text or error_class))
    # Its own check may say the same, and more.
    yield from (replace(told, needs=(told.about,)) for told in found.values())


@examines("retries", needs=(DATABASE,), is_quick=True)
def examine_retries() -> Iterator[Diagnosis]:
    """Find the retry that is due furthest ahead, if that is further than any backoff."""
    allowed = baton().retry_ahead_seconds
    last = Attempt.objects.filter(sent_at=None).annotate(ahead=F("due_at") - Now()).order_by("-due_at").first()
    ahead_seconds = last.ahead.total_seconds() if last else 0.0  # type: ignore[attr-defined]
    yield observed(
        ahead_seconds <= allowed,
        _("retries"),
        found=format_lazy(
            _("the last of {consumer} is due in {age} only (message {message_id})"),
            consumer=last.consumer,
            age=duration(ahead_seconds),
            message_id=last.message_id,
        )
        if last and ahead_seconds > allowed
        else _("none far ahead"),
        wanted=format_lazy(_("none due in more than {age}"), age=duration(allowed)),
        remedy=_("Compare the clock of the worker with the database's; then set due_at of the failed attempt to now."),
        command=commands.sql(f"UPDATE baton_attempt SET due_at = now() WHERE id = {last.pk}") if last else "",  # noqa: S608
        owner=owner_of(last.consumer) if last else None,
        about=Resource(Kind.DATA, "retries"),
    )
