"""Tables have short names of their own, and raw SQL names none that no model has."""

import re
from pathlib import Path

import baton_messaging
import pytest
from django.apps import apps

SOURCE = Path(baton_messaging.__file__).parent
TABLES = {model._meta.db_table for model in apps.get_app_config("baton_messaging").get_models()}
_NAMED = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|USING|ONLY|TABLE|ON)\s+(baton_\w+)")


def tables_named_in(text: str) -> set[str]:
    return set(_NAMED.findall(text))


def test_every_model_says_what_its_table_is_called() -> None:
    expected = {
        "baton_attempt",
        "baton_audit_entry",
        "baton_audited_dead_letter",
        "baton_circuit",
        "baton_dead_letter",
        "baton_expiry",
        "baton_future_message",
        "baton_group_alert",
        "baton_health_check",
        "baton_heartbeat",
        "baton_inbox",
        "baton_interruption",
        "baton_minute",
        "baton_outbox",
        "baton_pause",
        "baton_recovery",
        "baton_replay",
        "baton_rollup",
        "baton_task_return",
        "baton_total",
    }
    assert expected == TABLES


def test_raw_sql_names_the_tables_of_the_models_and_no_other() -> None:
    named = {
        (path.relative_to(SOURCE), table)
        for path in SOURCE.rglob("*.py")
        for table in tables_named_in(path.read_text())
    }
    assert len(named) >= 30  # the search finds something
    assert {(path, table) for path, table in named if table not in TABLES} == set()


def test_no_table_index_or_constraint_has_a_name_that_could_be_a_projects() -> None:
    for model in apps.get_app_config("baton_messaging").get_models():
        for part in (*model._meta.indexes, *model._meta.constraints):
            assert part.name.startswith("baton_"), (model, part.name)


@pytest.mark.parametrize("sql", ["SELECT 1 FROM baton_outbux", "UPDATE baton_outbux SET id = 1"])
def test_a_misspelt_table_would_be_found(sql: str) -> None:
    assert tables_named_in(sql) == {"baton_outbux"}
