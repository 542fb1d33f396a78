"""Forms of the desk. Bounds are for typing errors; the rules are the operations' own."""

import json
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from baton_messaging.conf import baton
from baton_messaging.database.text import storable
from baton_messaging.dead_letters.operations.selection import MAX_TEXT_LENGTH
from baton_messaging.models.dead_letter import Reason, State

MAX_WHY_LENGTH = 1_000  # characters
MAX_CANARY = 10_000
MAX_RATE = 10_000  # messages per second; the relay sends about half of that


class SearchForm(forms.Form):
    """The filter of the list."""

    text = forms.CharField(
        label=_("Search"),
        required=False,
        max_length=MAX_TEXT_LENGTH,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": _("order id, message id, error text")}),
    )
    state = forms.ChoiceField(label=_("State"), required=False, choices=[("", _("any state")), *State.choices])
    reason = forms.ChoiceField(label=_("Reason"), required=False, choices=[("", _("any reason")), *Reason.choices])
    consumer = forms.CharField(label=_("Consumer"), required=False, max_length=MAX_TEXT_LENGTH)
    since = forms.DateTimeField(
        label=_("Died from (UTC)"), required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    until = forms.DateTimeField(
        label=_("Died before (UTC)"), required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )


class WhyForm(forms.Form):
    """A reason that must be given."""

    why = forms.CharField(
        label=_("Why"),
        max_length=MAX_WHY_LENGTH,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("For whoever reads the audit."),
    )


class MoveForm(WhyForm):
    """Another time, and why."""

    due_at = forms.DateTimeField(
        label=_("Due at (UTC)"), widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"})
    )
    field_order = ["due_at", "why"]


class OptionalWhyForm(WhyForm):
    """A reason that may be given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["why"].required = False


class ReplayForm(OptionalWhyForm):
    """How a replay is paced."""

    canary_count = forms.IntegerField(
        label=_("First as a canary"),
        min_value=0,
        max_value=MAX_CANARY,
        help_text=_(
            "So many go first; the rest follows when they are resolved, and not if one dies again. 0: all at once."
        ),
    )
    rate_per_second = forms.IntegerField(
        label=_("At most per second"), min_value=0, max_value=MAX_RATE, help_text=_("0: as fast as the relay can.")
    )
    may_repeat = forms.BooleanField(
        label=_("Also those that may repeat"),
        required=False,
        help_text=_("Their inbox record is gone: if they were applied, they are applied a second time."),
    )
    field_order = ["canary_count", "rate_per_second", "may_repeat", "why"]

    @staticmethod
    def defaults() -> dict[str, int]:
        """Return what the project's settings propose."""
        return {
            "canary_count": baton().replay_canary_count,
            "rate_per_second": baton().replay_rate_per_second,
        }


class RedirectForm(WhyForm):
    """Which consumer gets them instead."""

    to = forms.ChoiceField(label=_("To the consumer"))
    field_order = ["to", "why"]

    def __init__(self, *args: Any, consumers: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["to"] = forms.ChoiceField(
            label=_("To the consumer"), choices=[(consumer, consumer) for consumer in consumers]
        )
        self.order_fields(self.field_order)


class IndentedJSONField(forms.JSONField):
    """JSON as people write it."""

    def prepare_value(self, value: Any) -> Any:
        """Indent what is shown first; leave alone what was typed. A lone surrogate fits in no page but as an escape."""
        return storable(value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False))


class EditForm(WhyForm):
    """The payload as JSON."""

    payload = IndentedJSONField(
        label=_("Payload"),
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false", "autocapitalize": "off", "class": "desk-code"}),
    )
    version = forms.TypedChoiceField(label=_("Version of the event"), coerce=int)
    field_order = ["payload", "version", "why"]

    def __init__(self, *args: Any, versions: list[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["version"] = forms.TypedChoiceField(
            label=_("Version of the event"), coerce=int, choices=[(version, str(version)) for version in versions]
        )
        self.order_fields(self.field_order)
