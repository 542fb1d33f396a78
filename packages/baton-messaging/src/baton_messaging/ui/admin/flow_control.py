"""Flow control in the admin: pauses to begin and to end, and circuit breakers."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from baton_messaging.audit.actors import PERMISSIONS, Actor
from baton_messaging.audit.errors import OperationRefused
from baton_messaging.events import known_names
from baton_messaging.flow_control.pauses import Target, pause, resume
from baton_messaging.models import Circuit, Pause
from baton_messaging.models.audit import Action
from baton_messaging.routing.subscriptions import all_consumers
from baton_messaging.ui.admin.read_only import ReadOnlyAdmin, SelectWidget, TextInputWidget

MAX_LISTED_CHARS = 35

if TYPE_CHECKING:
    _ModelForm = forms.ModelForm[Pause]
else:  # generic only in the stubs
    _ModelForm = forms.ModelForm


def _choices(names: list[str]) -> list[tuple[str, str]]:
    return [("", "---------"), *((name, name) for name in names)]


class PauseForm(_ModelForm):
    """What to hold back, and why."""

    consumer = forms.ChoiceField(
        label=_("Consumer"), required=False, choices=lambda: _choices(all_consumers()), widget=SelectWidget
    )
    event_name = forms.ChoiceField(
        label=_("Or one key of an event"),
        required=False,
        choices=lambda: _choices(known_names()),
        widget=SelectWidget,
    )
    key = forms.CharField(
        label=_("Key"),
        required=False,
        help_text=_("The id of the order (or other aggregate)"),
        widget=TextInputWidget,
    )

    class Meta:
        model = Pause
        fields = ("consumer", "event_name", "key", "why")

    def _get_validation_exclusions(self) -> set[str]:
        """Leave the target to ``clean``: the constraints would say the same again, and not in words for people."""
        fields: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]  # the stubs leave it out
        return {*fields, "consumer", "event_name", "key"}

    def clean(self) -> dict[str, Any]:
        """Check the target as the command does. The machinery's own words: they name the rule and the remedy."""
        cleaned = super().clean() or self.cleaned_data
        try:
            target_of(cleaned).check()
        except OperationRefused as error:
            raise forms.ValidationError(str(error)) from error
        return cleaned


def target_of(fields: dict[str, Any]) -> Target:
    """Return the target that the form names."""
    return Target(
        consumer=fields.get("consumer") or "", event_name=fields.get("event_name") or "", key=fields.get("key") or ""
    )


@admin.register(Pause)
class PauseAdmin(ReadOnlyAdmin[Pause]):
    """The kill switch and its history."""

    form = PauseForm
    list_display = ("target", "paused_by", "paused_at", "shortened_why", "resumed_by", "resumed_at")
    list_filter = (("resumed_at", admin.EmptyFieldListFilter), "consumer")
    ordering = ("-id",)
    actions = ("resume_selected",)  # type: ignore[assignment]  # the other tables have none

    @admin.display(description=_("why"))
    def shortened_why(self, row: Pause) -> str:
        """Return the reason, so short that a phone shows all of it; the row's own page has it whole."""
        return Truncator(row.why).chars(MAX_LISTED_CHARS)

    def has_add_permission(self, request: HttpRequest, *_args: Any) -> bool:
        """Ask for the right to pause."""
        return request.user.has_perm(PERMISSIONS[Action.PAUSE])

    def get_fields(self, request: HttpRequest, obj: Pause | None = None) -> Any:
        """Offer the target and the reason; show all of a pause that is there."""
        if obj is None:
            return ("consumer", "event_name", "key", "why")
        return (*PauseForm.Meta.fields, "paused_by", "paused_at", "via", "resumed_by", "resumed_at", "resumed_because")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Pause through the same function as the command."""
        del change
        try:
            made = pause(target_of(form.cleaned_data), actor=Actor.of_request(request, via="admin"), why=obj.why)
        except OperationRefused as error:
            request.pause_refused = error  # type: ignore[attr-defined]  # for response_add
            return
        obj.pk = made.pk

    def log_addition(self, request: HttpRequest, obj: Pause, message: Any) -> Any:
        """Leave it to the audit, which has the refusals, too."""

    def response_add(self, request: HttpRequest, obj: Pause, post_url_continue: str | None = None) -> Any:
        """Say what came of it."""
        refusal = getattr(request, "pause_refused", None)
        if refusal is None:
            return super().response_add(request, obj, post_url_continue)
        self.message_user(request, str(refusal), messages.ERROR)
        return redirect("admin:baton_messaging_pause_changelist")

    @admin.action(description=_("Resume: let what waits go on"), permissions=["resume"])
    def resume_selected(self, request: HttpRequest, queryset: QuerySet[Pause]) -> HttpResponseRedirect | None:
        """Resume through the same function as the command."""
        for row in queryset:
            target = Target(consumer=row.consumer, event_name=row.event_name, key=row.key)
            try:
                resume(target, actor=Actor.of_request(request, via="admin"))
            except OperationRefused as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                self.message_user(request, _("%(target)s goes on.") % {"target": target}, messages.SUCCESS)
        return None

    def has_resume_permission(self, request: HttpRequest, *_args: Any) -> bool:
        """Ask for the right to resume."""
        return request.user.has_perm(PERMISSIONS[Action.RESUME])


@admin.register(Circuit)
class CircuitAdmin(ReadOnlyAdmin[Circuit]):
    """Which consumers are tried with one message at a time, and which were."""

    list_display = ("consumer", "opened_at", "error_class", "probe_count", "next_probe_at", "closed_at")
    list_filter = (("opened_at", admin.EmptyFieldListFilter),)
    ordering = ("consumer",)
