"""The dashboard and the alert rules ask for metrics that /metrics tells, by labels that these have."""

import json
import re

import pytest
from baton_messaging.models import Heartbeat
from baton_messaging.observability.prometheus.scrape import exposition
from baton_messaging.observability.statistics.rollup import roll_up
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from tests.docs.pages import ROOT, anchors

pytestmark = pytest.mark.django_db(transaction=True)

FOLDER = ROOT / "docs" / "monitoring"
NAME = re.compile(r"\bbaton_\w+")
SELECTOR = re.compile(r"\b(baton_\w+)\{([^}]*)\}")
GROUPING = re.compile(r"\bby \(([\w, ]+)\)")
MADE_UP_BY_PROMETHEUS = {"le"}


@pytest.fixture
def told(db: None, empty_broker: None) -> dict[str, set[str]]:
    """Return the labels of each sample that a scrape tells; those that only exports would bring are added."""
    Heartbeat.objects.create(
        name="beat@test", role="beat", hostname="test", pid=1, started_at=timezone.now(), is_consuming=True
    )
    roll_up()
    labels: dict[str, set[str]] = {"baton_export_duration_seconds": {"format", "quantile"}}
    for family in text_string_to_metric_families(exposition().decode()):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    return labels


def expressions() -> dict[str, list[str]]:
    dashboard = json.loads((FOLDER / "grafana.json").read_text())
    panels = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    variables = [
        re.sub(r"label_values\((\w+), (\w+)\)", r"sum by (\2) (\1)", one["query"])
        for one in dashboard["templating"]["list"]
        if one["type"] == "query"
    ]
    return {"grafana.json": panels + variables, "alerts.yml": [rule["expr"] for rule in rules()]}


def rules() -> list[dict[str, str]]:
    """Read the rules: one line or one folded block per value is all the YAML there is in them."""
    text = re.sub(
        r">-\n((?: {10,}.*\n)+)",
        lambda block: "'" + " ".join(block[1].split()) + "'\n",
        (FOLDER / "alerts.yml").read_text(),
    )
    blocks = re.split(r"\n      - alert: ", text)[1:]
    return [
        {"alert": block.split("\n", 1)[0]}
        | {key: value.strip("'\"") for key, value in re.findall(r"^ +(\w+): (.+)$", block, re.MULTILINE)}
        for block in blocks
    ]


@pytest.mark.parametrize("file", ["grafana.json", "alerts.yml"])
def test_every_metric_and_label_that_is_asked_for_is_told(file: str, told: dict[str, set[str]]) -> None:
    asked = expressions()[file]
    assert len(asked) > 10
    for expression in asked:
        names = NAME.findall(expression)
        assert names, expression
        for name in names:
            assert name in told, expression
        for name, selector in SELECTOR.findall(expression):
            assert set(re.findall(r"(\w+)\s*[=!]", selector)) <= told[name], expression
        known = set.union(*(told[name] for name in names)) | MADE_UP_BY_PROMETHEUS
        for group in GROUPING.findall(expression):
            assert {label.strip() for label in group.split(",")} <= known, expression


def test_every_metric_that_is_told_is_looked_at(told: dict[str, set[str]]) -> None:
    everything = " ".join(expression for found in expressions().values() for expression in found)
    bases = {re.sub(r"_(bucket|count|sum|created)$", "", name) for name in told}
    assert sorted(name for name in bases if name.startswith("baton_") and name not in everything) == []


def test_each_alert_says_whose_it_is_and_what_to_read() -> None:
    assert len(rules()) > 10
    for rule in rules():
        assert "severity: " in rule["labels"], rule
        assert "owner" in rule["labels"] or "$labels.owner" in rule["summary"], rule
        page, _hash, anchor = rule["runbook"].partition("#")
        assert anchor in anchors(ROOT / page), rule
