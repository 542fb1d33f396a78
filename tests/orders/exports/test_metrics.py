"""What exports add to /metrics."""

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from orders.exports.models import Export
from tests.orders.exports.factories import an_export

pytestmark = pytest.mark.django_db


def test_exports_are_counted_by_state_at_each_scrape() -> None:
    client = Client()
    client.force_login(User.objects.create_user("sam", is_staff=True))
    an_export()
    Export.objects.update(state="cancelled", finished_at=Now())
    an_export()
    page = client.get("/metrics").content.decode()
    found = {family.name: family for family in text_string_to_metric_families(page)}
    counts = {sample.labels["state"]: sample.value for sample in found["baton_exports"].samples}
    assert (counts["queued"], counts["cancelled"], counts["failed"]) == (1, 1, 0)
    assert {"source": "exports"} in [sample.labels for sample in found["baton_source_up"].samples if sample.value]
