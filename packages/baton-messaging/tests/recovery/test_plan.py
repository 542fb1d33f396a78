"""The reconciler's statements cost what is unsettled, however many settled rows there are.

SETTLED_COUNT=10000000 python -m pytest tests/recovery/test_plan.py -s     # takes a while, and 5 GB
"""

import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from baton_messaging.recovery.losses import _ANY_SUSPECT, _OF_OUTBOX
from baton_messaging.recovery.settlement import _SETTLE, _START
from django.db import connection
from django.utils import timezone

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(3_600)]

SETTLED_COUNT, UNSETTLED_COUNT = int(os.environ.get("SETTLED_COUNT", "50000")), 300

_FILL = """
    INSERT INTO baton_outbox (message_id, name, version, key, payload, occurred_at, correlation_id,
        traceparent, sent_to, send_failure_count, last_error, published_at, settled_at)
    SELECT gen_random_uuid(), 'sample.sampled', 1, number::text, '{}', now(), gen_random_uuid(),
        '', '{sample.take_one}', 0, '', now() - number * interval '1 second',
        CASE WHEN number > %s THEN now() END
    FROM generate_series(1, %s) AS number
"""


@pytest.fixture
def many(db: None) -> None:
    """Fill the outbox; the settled rows are the older ones, as in life."""
    with connection.cursor() as cursor:
        cursor.execute(_FILL, [UNSETTLED_COUNT, SETTLED_COUNT + UNSETTLED_COUNT])
        cursor.execute("ANALYZE baton_outbox")


def scans(statement: str, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Run a statement; yield the nodes of its plan that read the outbox or an index of it."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", arguments)
        ((plan,),) = cursor.fetchall()
    print(f"{SETTLED_COUNT:,} settled rows, {UNSETTLED_COUNT} others: {plan[0]['Execution Time']:.1f} ms")
    pending = [plan[0]["Plan"]]
    while pending:
        node = pending.pop()
        pending += node.get("Plans", [])
        of_outbox = node.get("Relation Name") == "baton_outbox" or "outbox" in node.get("Index Name", "")
        if of_outbox and node["Node Type"] != "ModifyTable":
            print(f"    {node['Node Type']} {node.get('Index Name', '')}: {node['Actual Rows']:g} rows")
            yield node


STATEMENTS: list[tuple[str, dict[str, Any]]] = [
    (
        _OF_OUTBOX,
        {"consumer": "sample.take_one", "sent_before": timezone.now(), "in_flight": [], "only": None, "limit": 1_000},
    ),
    (_SETTLE, {"after_at": _START[0], "after_id": _START[1], "limit": 5_000}),
    (_ANY_SUSPECT, {"grace": timedelta(seconds=60), "relay": "baton.relay"}),
]


def test_the_partial_index_is_used_and_no_settled_row_is_touched(many: None) -> None:
    for statement, arguments in STATEMENTS:
        found = list(scans(statement, arguments))
        indexes = {node["Index Name"] for node in found if "Index Name" in node}
        assert "baton_outbox_unsettled" in indexes
        assert indexes <= {"baton_outbox_unsettled", "baton_outbox_pkey"}
        for node in found:
            assert node["Node Type"] != "Seq Scan", node
            touched = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
            assert touched <= UNSETTLED_COUNT, node
