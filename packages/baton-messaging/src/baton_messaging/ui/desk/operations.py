"""Pages of the operations on a selection: say what would happen, ask how and why, do it, and say what happened."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect as go_to
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views import View

from baton_messaging.audit.errors import NotPermitted, OperationRefused
from baton_messaging.dead_letters.operations.discard import discard, restore
from baton_messaging.dead_letters.operations.errors import BadSelection
from baton_messaging.dead_letters.operations.redirect import redirect
from baton_messaging.dead_letters.operations.replay import replay
from baton_messaging.dead_letters.operations.replay_plan import Fate, dry_run
from baton_messaging.dead_letters.operations.selection import Selection
from baton_messaging.models.audit import Action
from baton_messaging.models.dead_letter import State
from baton_messaging.routing.subscriptions import all_consumers, subscriptions_of
from baton_messaging.ui.desk.forms import OptionalWhyForm, RedirectForm, ReplayForm, WhyForm
from baton_messaging.ui.desk.lists import in_words, query_of, selection_of
from baton_messaging.ui.desk.pages import actor_of, demand, page, refusal_page, refuse_unpermitted


class OperationPage(View):
    """One operation on the selection of the query string. GET shows what it would do, POST does it.

    The right is asked for twice: here, so that nobody fills in a form in vain, and by the operation itself, which
    audits who sends the form all the same.
    """

    action: ClassVar[Action]
    title: ClassVar[Promise]
    template: ClassVar[str]

    def get(self, request: HttpRequest) -> HttpResponse:
        """Show the form."""
        demand(request, self.action)
        try:
            selection = selection_of(request.GET)
        except BadSelection as refusal:
            return refusal_page(request, refusal, title=self.title)
        return self._form_page(selection, self.form(selection))

    def post(self, request: HttpRequest) -> HttpResponse:
        """Do it, or show what is wrong."""
        try:
            refuse_unpermitted(request, self.action)
            selection = selection_of(request.GET)
            form = self.form(selection, request.POST)
            if not form.is_valid():
                return self._form_page(selection, form, status=422)
            return self.run(selection, **form.cleaned_data)
        except NotPermitted as refusal:
            return refusal_page(request, refusal, title=self.title, status=403)
        except OperationRefused as refusal:
            return refusal_page(request, refusal, title=self.title, status=409)

    def form(self, selection: Selection, data: Any = None) -> forms.Form:
        """Return what the operator fills in."""
        raise NotImplementedError

    def about(self, selection: Selection) -> dict[str, Any]:
        """Return what the page says about the selection."""
        raise NotImplementedError

    def run(self, selection: Selection, **answers: Any) -> HttpResponse:
        """Do it. Raises OperationRefused."""
        raise NotImplementedError

    def done(self, selection: Selection, text: str) -> HttpResponse:
        """Say what was done, on the list of what was selected."""
        messages.success(self.request, text)
        return go_to(f"{reverse('admin:baton_messaging_deadletter_list')}?{query_of(selection)}")

    def _form_page(self, selection: Selection, form: forms.Form, *, status: int = 200) -> HttpResponse:
        context = {
            "form": form,
            "words": in_words(selection),
            "query": query_of(selection),
            **self.about(selection),
        }
        return page(self.request, self.template, title=self.title, tab="letters", status=status, **context)


class ReplayPage(OperationPage):
    """Replay: the dry run comes first."""

    action, title, template = Action.REPLAY, _("Replay"), "replay.html"

    def form(self, selection: Selection, data: Any = None) -> ReplayForm:
        """Ask for the pace."""
        return ReplayForm(data, initial=ReplayForm.defaults())

    def about(self, selection: Selection) -> dict[str, Any]:
        """Tell every fate."""
        plan = dry_run(selection)
        return {
            "fates": [(fate, plan.count(fate), text) for fate, text in plan.sentences()],
            "can_replay": plan.replayed_count + plan.count(Fate.MAY_REPEAT) > 0,
            "may_repeat_count": plan.count(Fate.MAY_REPEAT),
            "no_consumer_count": plan.count(Fate.NO_CONSUMER),
        }

    def run(self, selection: Selection, **answers: Any) -> HttpResponse:
        """Go on to the replay's page, which shows how far it is."""
        order = replay(selection, actor=actor_of(self.request), **answers)
        return go_to("admin:baton_messaging_deadletter_replay_progress", order.pk)


class DiscardPage(OperationPage):
    """Discard: a reason must be given."""

    action, title, template = Action.DISCARD, _("Discard"), "discard.html"

    def form(self, selection: Selection, data: Any = None) -> WhyForm:
        """Ask why."""
        return WhyForm(data)

    def about(self, selection: Selection) -> dict[str, Any]:
        """Count what is open."""
        return {"count": selection.dead_letters().open().count()}

    def run(self, selection: Selection, **answers: Any) -> HttpResponse:
        """Discard the open ones."""
        count = discard(selection, actor=actor_of(self.request), **answers)
        text = ngettext("%(count)d dead letter is discarded.", "%(count)d dead letters are discarded.", count)
        return self.done(selection, text % {"count": count})


class RestorePage(OperationPage):
    """Restore what was discarded."""

    action, title, template = Action.RESTORE, _("Restore"), "restore.html"

    def form(self, selection: Selection, data: Any = None) -> OptionalWhyForm:
        """Ask why; nothing need be said."""
        return OptionalWhyForm(data)

    def about(self, selection: Selection) -> dict[str, Any]:
        """Count what is discarded."""
        return {"count": selection.dead_letters().filter(state=State.DISCARDED).count()}

    def run(self, selection: Selection, **answers: Any) -> HttpResponse:
        """Open the discarded ones again."""
        count = restore(selection, actor=actor_of(self.request), **answers)
        text = ngettext("%(count)d dead letter is open again.", "%(count)d dead letters are open again.", count)
        return self.done(selection, text % {"count": count})


class RedirectPage(OperationPage):
    """Redirect to another consumer of the same event."""

    action, title, template = Action.REDIRECT, _("Redirect"), "redirect.html"

    def form(self, selection: Selection, data: Any = None) -> RedirectForm:
        """Ask where to."""
        names = selection.dead_letters().replayable().order_by().values_list("event_name", flat=True).distinct()
        consumers = {known.consumer for name in names for known in subscriptions_of(name)}
        return RedirectForm(data, consumers=sorted(consumers))

    def about(self, selection: Selection) -> dict[str, Any]:
        """Count what can move: the dead letters of consumers that this release does not have."""
        return {"count": selection.dead_letters().replayable().exclude(consumer__in=all_consumers()).count()}

    def run(self, selection: Selection, **answers: Any) -> HttpResponse:
        """Go on to the new consumer's list, from where they can be replayed."""
        count = redirect(selection, actor=actor_of(self.request), **answers)
        text = ngettext("%(count)d dead letter has moved.", "%(count)d dead letters have moved.", count)
        return self.done(Selection(consumer=answers["to"], state=State.OPEN), text % {"count": count})
