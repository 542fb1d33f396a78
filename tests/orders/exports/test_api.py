"""The JSON API of exports: its shapes, which scripts hold on to, and who gets what."""

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from baton_messaging.testing import published
from django.contrib.auth.models import Permission, User
from django.db.models.functions import Now
from django.test import Client

from orders.exports import building, download, files, housekeeping
from orders.exports.models import Export
from orders.exports.states import ExportState, Failure, Format
from orders.models import Order
from tests.orders.exports.factories import a_person, an_export, many_orders
from tests.orders.exports.readers import read_csv
from tests.orders.factories import at_once, products

# Building takes a transaction of its own. The tests without it are marked: emptying all tables takes longer than they.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("storage_folder")]

Answer = Any


def logged_in(person: User, **options: Any) -> Client:
    client = Client(**options)
    client.force_login(person)
    return client


def ask(client: Client, **body: Any) -> Answer:
    return client.post("/api/exports", json.dumps({"format": "csv", **body}), content_type="application/json")


def built(export: Export) -> Export:
    building.build(export.pk, worker="test")
    export.refresh_from_db()
    return export


def content_of(answer: Answer) -> bytes:
    content = b"".join(answer.streaming_content)
    answer.close()
    return content


def status_of(client: Client, path: str, **options: Any) -> int:
    answer = client.get(path, **options)
    answer.close()
    return answer.status_code


@pytest.mark.django_db
def test_an_export_is_accepted_with_the_address_of_its_status() -> None:
    client = logged_in(a_person())
    answer = ask(client, **{"format": "xlsx", "from": "2026-01-01", "to": "2026-01-31", "status": "confirmed"})
    export = Export.objects.get()
    assert answer.status_code == 202
    assert answer.json() == {"export_id": str(export.pk), "status_url": f"/api/exports/{export.pk}"}
    assert answer.headers["Location"] == f"/api/exports/{export.pk}"
    assert export.selection == {"from_day": "2026-01-01", "to_day": "2026-01-31", "status": "confirmed"}
    assert client.get(answer.json()["status_url"]).json() == {
        "export_id": str(export.pk),
        "state": "queued",
        "rows_done": 0,
        "rows_total": None,
        "percent": 0,
        "download_url": None,
        "error": None,
    }


def test_a_ready_export_is_downloaded(committed_catalogue: None, tmp_path: Path) -> None:
    many_orders(10)
    person = a_person()
    export = built(an_export(person))
    client = logged_in(person)
    status = client.get(f"/api/exports/{export.pk}").json()
    assert (status["state"], status["rows_done"], status["rows_total"], status["percent"]) == ("ready", 10, 10, 100)
    answer: Answer = client.get(status["download_url"])
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["Accept-Ranges"] == "bytes"
    (tmp_path / "d.csv").write_bytes(content_of(answer))
    assert len(read_csv(tmp_path / "d.csv")) == 11
    assert int(answer.headers["Content-Length"]) == export.size_bytes


@pytest.mark.django_db
def test_a_failure_is_told_in_a_sentence_and_names_the_limit() -> None:
    person = a_person()
    export = an_export(person)
    hold = Export.objects.claim(export.pk, worker="w")
    assert hold is not None
    Export.objects.fail(hold, Failure.TIME_LIMIT, limit=1_200)
    status = logged_in(person).get(f"/api/exports/{export.pk}").json()
    assert status["state"] == "failed"
    assert "20 minutes" in status["error"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"format": "pdf"}, "format"),
        ({"format": None}, "format"),
        ({"from": "yesterday"}, "from"),
        ({"from": "9999-12-31"}, "from"),
        ({"to": "0001-01-01"}, "to"),
        ({"from": "2026-02-01", "to": "2026-01-01"}, "body"),
        ({"status": "lost"}, "status"),
        ({"path": "/etc/passwd"}, "path"),
        ({"from_day": "2026-01-01"}, "from_day"),
    ],
)
def test_bad_input_is_refused_by_the_name_of_the_field(body: dict[str, Any], field: str) -> None:
    answer = ask(logged_in(a_person()), **body)
    assert answer.status_code == 422
    assert field in {error["field"] for error in answer.json()["errors"]}
    assert not Export.objects.exists()


def test_twenty_at_once_are_two_exports_and_eighteen_refusals() -> None:
    person = a_person()
    answers = at_once(lambda: ask(logged_in(person)))
    assert sorted(answer.status_code for answer in answers) == [202] * 2 + [429] * 18
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert "2 exports waiting or running" in refused.json()["detail"]
    assert refused.headers["Retry-After"] == "30"
    assert Export.objects.count() == len(published()) == 2


def test_nobody_but_the_owner_and_permitted_staff_learns_that_it_exists() -> None:
    export = built(an_export(a_person("ann")))
    paths = [f"/api/exports/{export.pk}", f"/api/exports/{export.pk}/download"]
    pages = [f"/exports/{export.pk}/", f"/exports/{export.pk}/progress/"]
    staff = a_person("staff", is_staff=True)
    permitted_no_staff = a_person("former")
    permitted = a_person("auditor", is_staff=True)
    for person in (permitted, permitted_no_staff):
        person.user_permissions.add(Permission.objects.get(codename="view_export"))
    for stranger in (a_person("bob"), staff, permitted_no_staff):
        client = logged_in(stranger)
        assert {status_of(client, path) for path in paths + pages} == {404}
        assert client.post(f"/api/exports/{export.pk}/cancel").status_code == 404
        assert client.post(f"/exports/{export.pk}/repeat/").status_code == 404
        unknown = client.get(f"/api/exports/{uuid4()}").json()
        assert client.get(paths[0]).json().keys() == unknown.keys()
    without_rights = logged_in(a_person("guest", may_export=False))
    assert {status_of(without_rights, path) for path in paths + pages} == {403}
    for insider in (User.objects.get(username="ann"), permitted, a_person("root", is_superuser=True, is_staff=True)):
        assert [status_of(logged_in(insider), path) for path in paths + pages] == [200, 200, 200, 286]


def test_who_is_not_logged_in_gets_nothing() -> None:
    export = built(an_export())
    for path in (f"/api/exports/{export.pk}", f"/api/exports/{export.pk}/download"):
        assert Client().get(path).status_code == 401
    assert ask(Client()).status_code == 401
    page = Client().get(f"/exports/{export.pk}/")
    assert (page.status_code, page.headers["Location"]) == (302, f"/login/?next=/exports/{export.pk}/")


@pytest.mark.django_db
def test_a_page_elsewhere_cannot_act_in_a_persons_name() -> None:
    assert ask(logged_in(a_person(), enforce_csrf_checks=True)).status_code == 403
    assert not Export.objects.exists()


def test_cancel_answers_202_and_of_a_finished_one_409() -> None:
    person = a_person()
    client = logged_in(person)
    waiting, ready = an_export(person), built(an_export(person))
    for _ in range(2):
        assert client.post(f"/api/exports/{waiting.pk}/cancel").status_code == 202
    assert client.post(f"/api/exports/{ready.pk}/cancel").status_code == 409
    assert client.get(f"/api/exports/{waiting.pk}").json()["state"] == "cancelled"
    assert client.get(f"/api/exports/{waiting.pk}/download").status_code == 404


RANGES = {
    "bytes=0-0": (206, slice(0, 1)),
    "bytes=3-9": (206, slice(3, 10)),
    "bytes=5-": (206, slice(5, None)),
    "bytes=-4": (206, slice(-4, None)),
    "bytes=-99999999": (206, slice(None)),
    "bytes=2-99999999": (206, slice(2, None)),
    "bytes=99999999-": (416, None),
    "bytes=-0": (416, None),
    "bytes=9-3": (200, slice(None)),
    "bytes=0-1,4-5": (200, slice(None)),
    "bytes=-": (200, slice(None)),
    "bytes=x": (200, slice(None)),
    "lines=0-1": (200, slice(None)),
    "bytes=" + "9" * 5_000 + "-": (200, slice(None)),
}


@pytest.fixture
def ready_export() -> Export:
    return built(an_export(a_person("ann")))


def test_ranges_are_served_as_the_standard_says(ready_export: Export) -> None:
    client = logged_in(User.objects.get(username="ann"))
    whole = Path(files.storage().path(ready_export.file_name)).read_bytes()
    for header, (status, part) in RANGES.items():
        answer: Answer = client.get(f"/api/exports/{ready_export.pk}/download", headers={"Range": header})
        assert answer.status_code == status, header
        if part is None:
            assert answer.headers["Content-Range"] == f"bytes */{len(whole)}"
            continue
        content = content_of(answer)
        assert content == whole[part], header
        assert int(answer.headers["Content-Length"]) == len(content)
        if status == 206:
            first = whole.index(content) if len(content) < len(whole) else 0
            assert answer.headers["Content-Range"] == f"bytes {first}-{first + len(content) - 1}/{len(whole)}"


def test_a_resumed_download_of_another_file_starts_anew(ready_export: Export) -> None:
    client = logged_in(User.objects.get(username="ann"))
    path = f"/api/exports/{ready_export.pk}/download"
    etag = client.head(path).headers["ETag"]
    for condition, status in ((etag, 206), ('"another"', 200)):
        assert status_of(client, path, headers={"Range": "bytes=1-", "If-Range": condition}) == status
    head: Answer = client.head(path)
    assert (head.status_code, head.content, head.headers["Content-Length"]) == (200, b"", str(ready_export.size_bytes))


def test_the_name_is_told_for_old_and_new_programs_and_in_japanese(ready_export: Export) -> None:
    client = logged_in(User.objects.get(username="ann"))
    Export.objects.update(language="ja", selection={"from_day": "2026-01-01", "to_day": "2026-01-31"})
    disposition = client.head(f"/api/exports/{ready_export.pk}/download").headers["Content-Disposition"]
    assert disposition == (
        f'attachment; filename="orders_{ready_export.reference}.csv"; '
        f"filename*=UTF-8''%E6%B3%A8%E6%96%87_2026-01-01_2026-01-31_{ready_export.reference}.csv"
    )


def test_a_file_that_the_storage_has_lost_is_not_found_rather_than_an_error(ready_export: Export) -> None:
    Path(files.storage().path(ready_export.file_name)).unlink()
    client = logged_in(User.objects.get(username="ann"))
    assert client.get(f"/api/exports/{ready_export.pk}/download").status_code == 404


def test_web_needs_nothing_that_is_on_the_workers_machine(settings: Any, tmp_path: Path) -> None:
    """As with S3: a storage that both reach, and disks of their own."""
    settings.EXPORTS = {**settings.EXPORTS, "SCRATCH_DIR": tmp_path / "worker"}
    reached_by_both = {**settings.STORAGES["exports"], "BACKEND": "tests.orders.exports.storages.WithoutRename"}
    settings.STORAGES = {**settings.STORAGES, "exports": reached_by_both}
    person = a_person()
    export = built(an_export(person))
    shutil.rmtree(tmp_path / "worker")
    settings.EXPORTS = {**settings.EXPORTS, "SCRATCH_DIR": tmp_path / "web"}
    answer: Answer = logged_in(person).get(f"/api/exports/{export.pk}/download")
    assert (answer.status_code, len(content_of(answer))) == (200, export.size_bytes)


def test_a_storage_that_does_not_answer_is_told_and_is_no_error_of_ours(ready_export: Export, settings: Any) -> None:
    away = {**settings.STORAGES["exports"], "BACKEND": "tests.orders.exports.storages.Away"}
    settings.STORAGES = {**settings.STORAGES, "exports": away}
    answer = logged_in(User.objects.get(username="ann")).get(f"/api/exports/{ready_export.pk}/download")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert "does not answer" in answer.json()["detail"]


def test_a_download_that_has_begun_outlives_the_file(ready_export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "BLOCK_BYTES", 10)
    whole = Path(files.storage().path(ready_export.file_name)).read_bytes()
    client = logged_in(User.objects.get(username="ann"))
    answer: Answer = client.get(f"/api/exports/{ready_export.pk}/download")
    blocks = iter(answer.streaming_content)
    begun = next(blocks)
    Export.objects.update(expires_at=Now())
    assert (housekeeping.expire_due(), housekeeping.clean()) == (1, 0)  # its file is kept a while for this
    Export.objects.update(expires_at=Now() - timedelta(days=1), finished_at=Now() - timedelta(days=8))
    assert housekeeping.clean() == 1
    assert begun + b"".join(blocks) == whole
    answer.close()
    assert client.get(f"/api/exports/{ready_export.pk}/download").status_code == 404


@pytest.mark.django_db
def test_the_shapes_are_in_the_openapi_document() -> None:
    document = Client().get("/api/openapi.json").json()
    assert set(document["paths"]) >= {
        "/api/exports",
        "/api/exports/{export_id}",
        "/api/exports/{export_id}/cancel",
        "/api/exports/{export_id}/download",
    }
    assert document["components"]["schemas"]["ExportIn"]["properties"].keys() == {"format", "from", "to", "status"}


@pytest.mark.django_db
def test_all_states_have_their_name_in_the_api() -> None:
    document = Client().get("/api/openapi.json").json()
    assert document["components"]["schemas"]["ExportOut"]["properties"]["state"]["enum"] == list(ExportState.values)
    assert document["components"]["schemas"]["ExportIn"]["properties"]["format"]["enum"] == list(Format.values)


def test_an_export_needs_the_right_at_every_door() -> None:
    guest = a_person("guest", may_export=False, is_staff=True)
    guest.user_permissions.add(Permission.objects.get(codename="view_order"))
    client = logged_in(guest)
    assert ask(client).status_code == 403
    assert client.get("/exports/").status_code == 403
    assert client.post("/exports/", {"format": "csv"}).status_code == 403
    products()
    many_orders(1)
    order = Order.objects.get()
    client.post("/admin/orders/order/", {"action": "export_as_csv", "_selected_action": [str(order.pk)]})
    assert "Export these" not in client.get("/admin/orders/order/").content.decode()
    assert not Export.objects.exists()


def test_looking_at_exports_of_others_is_not_cancelling_or_repeating_them() -> None:
    export = an_export()
    auditor = a_person("auditor", may_export=False, is_staff=True)
    auditor.user_permissions.add(Permission.objects.get(codename="view_export"))
    client = logged_in(auditor)
    page = client.get(f"/exports/{export.pk}/").content.decode()
    assert "Cancel the export" not in page
    for path in (f"/api/exports/{export.pk}/cancel", f"/exports/{export.pk}/cancel/", f"/exports/{export.pk}/repeat/"):
        assert client.post(path).status_code == 403
    export.refresh_from_db()
    assert export.is_active
    auditor.user_permissions.add(Permission.objects.get(codename="change_export"))
    assert logged_in(User.objects.get(pk=auditor.pk)).post(f"/api/exports/{export.pk}/cancel").status_code == 202
