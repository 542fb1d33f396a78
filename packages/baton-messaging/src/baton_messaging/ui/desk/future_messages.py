"""Pages of a future message: what it is and when it is due, and the forms that move or cancel it, with a reason."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views import View
from django.views.decorators.http import require_safe

from baton_messaging.audit.errors import NotPermitted, OperationRefused
from baton_messaging.flow_control.future_messages import cancel_message, move_message
from baton_messaging.models import FutureMessage
from baton_messaging.models.audit import Action
from baton_messaging.ui.desk.forms import MoveForm, WhyForm
from baton_messaging.ui.desk.pages import actor_of, demand, page, refusal_page, refuse_unpermitted

SHOWN = "admin:baton_messaging_futuremessage_change"


@require_safe
def future_message_page(request: HttpRequest, future_id: int) -> HttpResponse:
    """Show one, with the ways to its forms while it waits."""
    row = get_object_or_404(FutureMessage, pk=future_id)
    return page(request, "future_message.html", title=_("Future message"), row=row)


class ChangePage(View):
    """One operation on one message that is not due yet. GET shows the form, POST does it."""

    action: ClassVar[Action]
    title: ClassVar[Promise]
    hint: ClassVar[Promise]
    form_class: ClassVar[type[forms.Form]] = WhyForm

    def get(self, request: HttpRequest, future_id: int) -> HttpResponse:
        """Show the form."""
        demand(request, self.action)
        row = get_object_or_404(FutureMessage, pk=future_id)
        return self._form_page(row, self.form_class(initial={"due_at": row.due_at}))

    def post(self, request: HttpRequest, future_id: int) -> HttpResponse:
        """Do it, or show what is wrong."""
        try:
            refuse_unpermitted(request, self.action)
            row = get_object_or_404(FutureMessage, pk=future_id)
            form = self.form_class(request.POST)
            if not form.is_valid():
                return self._form_page(row, form, status=422)
            messages.success(request, str(self.run(row, **form.cleaned_data)))
        except NotPermitted as refusal:
            return refusal_page(request, refusal, title=self.title, status=403)
        except OperationRefused as refusal:
            return refusal_page(request, refusal, title=self.title, status=409)
        return redirect(SHOWN, future_id)

    def run(self, row: FutureMessage, **answers: Any) -> Promise | str:
        """Do it, and return what to say. Raises OperationRefused."""
        raise NotImplementedError

    def _form_page(self, row: FutureMessage, form: forms.Form, *, status: int = 200) -> HttpResponse:
        context = {"row": row, "form": form, "hint": self.hint, "is_danger": self.action is Action.CANCEL}
        return page(self.request, "future_form.html", title=self.title, status=status, **context)


class MovePage(ChangePage):
    """Another time."""

    action, title, form_class = Action.MOVE, _("Move to another time"), MoveForm
    hint = _("It is sent then; a time in the past means at once.")

    def run(self, row: FutureMessage, **answers: Any) -> Promise | str:
        """Move it."""
        move_message(row.message_id, answers["due_at"], actor=actor_of(self.request), why=answers["why"])
        return _("Moved. It is sent at the new time.")


class CancelPage(ChangePage):
    """Never."""

    action, title = Action.CANCEL, _("Cancel the message")
    hint = _("It will not be sent. The row is kept, with who and when; it cannot be restored.")

    def run(self, row: FutureMessage, **answers: Any) -> Promise | str:
        """Cancel it."""
        cancel_message(row.message_id, actor=actor_of(self.request), why=answers["why"])
        return _("Cancelled. It will not be sent.")
