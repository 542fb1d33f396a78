"""Exports in the admin: the list of them, read-only, and the action that exports a list of orders as it is filtered."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import ERROR_FLAG, IGNORED_PARAMS, PAGE_VAR, SEARCH_VAR
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from pydantic import ValidationError
from unfold.admin import ModelAdmin

from orders.exports import services, wording
from orders.exports.errors import ExportRefused, UnsupportedFilter
from orders.exports.models import Export
from orders.exports.selection import Selection
from orders.exports.states import Format
from orders.reference import called

_SHOWN_HOW = {*IGNORED_PARAMS, PAGE_VAR, ERROR_FLAG} - {SEARCH_VAR}  # of the list's address: not which orders


@admin.action(description=gettext_lazy("Export the selected orders as Excel file"), permissions=["export"])
def export_as_xlsx(model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
    """Export what is selected, or all that the list's filters show."""
    return _export(request, queryset, Format.XLSX)


@admin.action(description=gettext_lazy("Export the selected orders as CSV file"), permissions=["export"])
def export_as_csv(model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
    """Export what is selected, or all that the list's filters show."""
    return _export(request, queryset, Format.CSV)


def selected(request: HttpRequest, queryset: QuerySet[Any]) -> Selection:
    """Return the orders that an action of the list is for. Raises UnsupportedFilter, pydantic.ValidationError."""
    if request.POST.get("select_across") == "1":
        return Selection.of_list({name: values for name, values in request.GET.lists() if name not in _SHOWN_HOW})
    return Selection.of_orders(tuple(queryset.order_by("pk").values_list("pk", flat=True)))


def _export(request: HttpRequest, queryset: QuerySet[Any], file_format: Format) -> HttpResponse | None:
    try:
        export = services.request_export(
            user=request.user,  # type: ignore[arg-type]  # the admin lets nobody else in
            file_format=file_format,
            selection=selected(request, queryset),
            language="ja" if get_language() == "ja" else "en",
        )
    except ExportRefused as refusal:
        messages.error(request, wording.refusal_sentence(refusal))
    except (UnsupportedFilter, ValidationError):
        messages.error(request, _("An export cannot repeat this filter of the list. Nothing was exported."))
    else:
        return redirect(export)
    return None


@admin.register(Export)
class ExportAdmin(ModelAdmin):
    """All exports. Their pages have the buttons."""

    list_display = [
        "reference",
        "contents",
        "requested_by",
        "format",
        "state",
        "failure",
        "rows_done",
        "size_bytes",
        "created_at",
    ]
    list_filter = ["state", "format", "failure", "created_at"]
    list_select_related = ["requested_by"]
    search_fields = ["requested_by__username", "requested_by__email"]  # and the number: get_search_results
    search_help_text = gettext_lazy("Number of the export, or who asked for it")
    show_full_result_count = False
    readonly_fields = ["whose"]

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Find an export by its number, too."""
        by_number = called(queryset, search_term)
        return (by_number, False) if by_number.exists() else super().get_search_results(request, queryset, search_term)

    @admin.display(description=gettext_lazy("Orders"))
    def contents(self, export: Export) -> str:
        """Say which orders it holds."""
        return wording.contents(Selection.model_validate(export.selection))

    @admin.display(description=gettext_lazy("Whose is it?"))
    def whose(self, export: Export) -> SafeString:
        """Return the way to triage."""
        return format_html(
            '<a href="{}">{}</a>', reverse("triage_of", args=[export.pk]), _("Evidence, owner, next step")
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: the exports' page takes new ones."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: the row belongs to the machinery."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: the row is the trace of the file."""
        return False
