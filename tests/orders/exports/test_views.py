"""The pages of exports and the action in the admin, without a browser."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from orders.exports.checks import check_storage
from orders.exports.errors import UnsupportedFilter
from orders.exports.models import Export
from orders.exports.selection import Selection
from orders.exports.states import Failure
from orders.models import Order
from tests.orders.exports.factories import a_person, an_export, many_orders
from tests.orders.factories import products

pytestmark = pytest.mark.django_db

Answer = Any


@pytest.fixture
def person() -> User:
    return a_person()


@pytest.fixture
def page(client: Client, person: User) -> Client:
    client.force_login(person)
    return client


def test_the_form_makes_an_export_and_leads_to_its_page(page: Client) -> None:
    form = {"format": "xlsx", "from_day": "2026-01-01", "to_day": "", "status": "rejected"}
    answer = page.post("/exports/", form)
    export = Export.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/exports/{export.pk}/")
    assert (export.format, export.selection) == ("xlsx", {"from_day": "2026-01-01", "status": "rejected"})


def test_the_answer_reads_no_order_and_looks_through_no_table(page: Client, person: User) -> None:
    """What it costs depends on neither the orders nor the exports there are; 200 ms are measured by the bench."""
    products()
    many_orders(100)
    many_exports(1_000, person)
    with CaptureQueriesContext(connection) as captured:
        assert page.get("/exports/").status_code == 200
        assert page.post("/exports/", {"format": "csv"}).status_code == 302
        assert page.get(Export.objects.first().get_absolute_url()).status_code == 200  # type: ignore[union-attr]
    statements = [query["sql"] for query in captured if '"orders_' in query["sql"]]
    assert not [sql for sql in statements if '"orders_order' in sql]
    selects = [sql for sql in statements if sql.startswith("SELECT")]
    assert len(selects) >= 4
    for sql in selects:
        assert "Seq Scan on orders_export" not in plan_of(sql), sql


def many_exports(count: int, person: User) -> None:
    """Insert exports that are over, every other one the person's."""
    other = a_person("other")
    Export.objects.bulk_create(
        Export(
            requested_by=person if number % 2 else other, format="csv", state="cancelled", finished_at=timezone.now()
        )
        for number in range(count)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE orders_export")


def plan_of(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        return "\n".join(line for (line,) in cursor.fetchall())


@pytest.mark.parametrize(
    "form",
    [
        {"format": "pdf"},
        {"format": "csv", "from_day": "soon"},
        {"format": "csv", "from_day": "2026-02-01", "to_day": "2026-01-01"},
        {"format": "csv", "from_day": "0001-01-01"},
        {"format": "csv", "status": "lost"},
    ],
)
def test_a_form_that_makes_no_sense_is_shown_again(page: Client, form: dict[str, str]) -> None:
    answer = page.post("/exports/", form)
    assert answer.status_code == 422
    assert "has-error" in answer.content.decode()
    assert not Export.objects.exists()


def test_the_third_at_a_time_is_refused_with_a_sentence(page: Client, person: User) -> None:
    an_export(person)
    an_export(person)
    answer = page.post("/exports/", {"format": "csv"})
    assert answer.status_code == 429
    assert "You have 2 exports waiting or running already" in answer.content.decode()


def test_the_list_shows_ones_own_and_stops_polling_when_nothing_moves(page: Client, person: User) -> None:
    own, other = an_export(person), an_export()
    text = page.get("/exports/").content.decode()
    assert own.reference in text
    assert other.reference not in text
    assert 'hx-get="/exports/list/"' in text
    assert page.get("/exports/list/").status_code == 200
    Export.objects.cancel(own.pk)
    assert page.get("/exports/list/").status_code == 286


def test_the_list_goes_back_page_by_page(page: Client, person: User) -> None:
    many_exports(120, person)
    seen: list[str] = []
    address = "/exports/"
    for _ in range(9):
        text = page.get(address).content.decode()
        seen += re.findall(r'<a href="/exports/([0-9a-f-]{36})/">', text)
        older = re.search(r'href="(/exports/\?before=[0-9a-f-]+)"', text)
        if not older:
            break
        address = older[1]
    assert seen == [str(pk) for pk in Export.objects.filter(requested_by=person).values_list("pk", flat=True)]
    assert len(seen) == 60
    assert seen[0] in page.get("/exports/?before=no-id").content.decode()


@pytest.mark.parametrize("path", ["/", "/exports/", "/exports/list/", "{export}", "{export}progress/"])
def test_programs_that_look_before_they_leap_get_the_head(page: Client, person: User, path: str) -> None:
    address = path.format(export=an_export(person).get_absolute_url())
    assert page.head(address).status_code == 200


def test_a_failed_export_says_why_and_can_be_tried_again(page: Client, person: User) -> None:
    export = an_export(person)
    hold = Export.objects.claim(export.pk, worker="w")
    assert hold is not None
    Export.objects.fail(hold, Failure.WORKER_LOST, limit=3)
    text = page.get(f"/exports/{export.pk}/").content.decode()
    assert "worker stopped 3 times" in text
    assert "Try again" in text
    answer = page.post(f"/exports/{export.pk}/repeat/")
    again = Export.objects.exclude(pk=export.pk).get()
    assert answer.headers["Location"] == f"/exports/{again.pk}/"


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("reason", list(Failure))
def test_every_reason_has_its_sentence(page: Client, person: User, reason: Failure, language: str) -> None:
    export = an_export(person)
    hold = Export.objects.claim(export.pk, worker="w")
    assert hold is not None
    Export.objects.fail(hold, reason, limit=1_260)
    text = page.get(f"/exports/{export.pk}/", headers={"Accept-Language": language}).content.decode()
    assert {"en": "lease ", "ja": "21 分" if reason == Failure.TIME_LIMIT else "もう一度"}[language] in text


def test_cancelling_a_finished_export_is_told(page: Client, person: User) -> None:
    export = an_export(person)
    Export.objects.fail_waiting(export.pk, Failure.UNDELIVERED)
    answer: Answer = page.post(f"/exports/{export.pk}/cancel/", follow=True)
    assert "finished already" in answer.content.decode()


class TestTheActionInTheAdmin:
    @pytest.fixture
    def admin_page(self, client: Client, person: User) -> Client:
        products()
        many_orders(150)
        person.is_staff = True
        person.save()
        person.user_permissions.add(Permission.objects.get(codename="view_order"))
        client.force_login(person)
        return client

    def act(self, page: Client, query: str = "", **form: Any) -> Answer:
        address = reverse("admin:orders_order_changelist") + query
        first = str(Order.objects.order_by("pk")[0].pk)
        return page.post(address, {"action": "export_as_csv", "_selected_action": [first], **form})

    def test_exports_what_was_picked(self, admin_page: Client) -> None:
        answer = self.act(admin_page)
        export = Export.objects.get()
        assert answer.headers["Location"] == f"/exports/{export.pk}/"
        assert [order.pk for order in Selection.model_validate(export.selection).orders()] == [
            Order.objects.order_by("pk")[0].pk
        ]

    def test_keeps_the_filters_when_all_are_chosen(self, admin_page: Client) -> None:
        query = "?status__exact=confirmed&language__exact=en&placed_at__gte=2026-01-01+00%3A00%3A00%2B00%3A00"
        self.act(admin_page, query, select_across="1")
        selection = Selection.model_validate(Export.objects.get().selection)
        assert set(selection.orders()) == set(Order.objects.filter(status="confirmed", language="en"))

    def test_a_button_names_the_number_and_exports_just_these(self, admin_page: Client) -> None:
        query = "?status__exact=confirmed&language__exact=en"
        text = admin_page.get(reverse("admin:orders_order_changelist") + query).content.decode()
        orders = Order.objects.filter(status="confirmed", language="en")
        assert f"Export these {orders.count()} as Excel file" in text
        form = next(form for form in text.split("<form") if "Export these" in form)
        fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))
        assert fields.keys() == {"csrfmiddlewaretoken", "select_across", "_selected_action"}
        assert 'type="submit" name="action" value="export_as_csv"' in form
        admin_page.post(reverse("admin:orders_order_changelist") + query, {**fields, "action": "export_as_csv"})
        assert set(Selection.model_validate(Export.objects.get().selection).orders()) == set(orders)

    def test_keeps_the_search(self, admin_page: Client) -> None:
        order = Order.objects.order_by("pk")[7]
        self.act(admin_page, f"?q={order.reference}", select_across="1")
        assert list(Selection.model_validate(Export.objects.get().selection).orders()) == [order]

    def test_looks_for_the_words_that_the_list_looks_for(self) -> None:
        products()
        many_orders(3)
        order = Order.objects.order_by("pk")[1]
        selection = Selection.of_list({"q": [f'"{order.reference}"']})
        assert list(selection.orders()) == [order]

    @pytest.mark.parametrize(
        ("query", "status"), [("?status__exact=", 302), ("?q=a%00b", 400), ("?_facets=True&q=%00", 400)]
    )
    def test_exports_nothing_where_the_list_means_something_else(
        self, admin_page: Client, query: str, status: int
    ) -> None:
        assert self.act(admin_page, query, select_across="1").status_code == status
        assert not Export.objects.exists()

    def test_how_the_list_is_shown_does_not_matter(self, admin_page: Client) -> None:
        self.act(admin_page, "?status__exact=confirmed&o=-1&p=1&_facets=True", select_across="1")
        assert Export.objects.get().selection == {"status": "confirmed"}

    def test_refuses_a_filter_that_it_cannot_repeat(self, admin_page: Client) -> None:
        with pytest.raises(UnsupportedFilter, match="total__gt"):
            Selection.of_list({"total__gt": ["5"]})
        with pytest.raises(UnsupportedFilter, match="status__exact"):
            Selection.of_list({"status__exact": ["accepted", "confirmed"]})  # the list shows both
        answer = self.act(admin_page, "?placed_at__gte=nonsense", select_across="1")
        assert answer.status_code == 302
        assert not Export.objects.exists()


class TestChecks:
    def test_there_must_be_a_storage_that_is_not_served_to_anybody(self, settings: Any) -> None:
        assert check_storage() == []
        settings.MEDIA_ROOT = settings.STORAGES["exports"]["OPTIONS"]["location"]
        assert [error.id for error in check_storage()] == ["orders.E002"]
        settings.STORAGES = {name: value for name, value in settings.STORAGES.items() if name != "exports"}
        assert [error.id for error in check_storage()] == ["orders.E001"]
