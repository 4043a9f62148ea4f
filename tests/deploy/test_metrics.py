"""The dashboard and the alerts in deploy/, held against what is really told to Prometheus."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_admin.core.monitoring import meters
from scheduler_admin.metrics.installation import Installation
from scheduler_admin.metrics.requests import REQUESTS
from scheduler_admin.metrics.stored import Stored
from tests.deploy.grafana import mistakes

BASE = Path(__file__).resolve().parents[2]
ALERTS = yaml.safe_load((BASE / "deploy" / "alerts.yaml").read_text(encoding="utf-8"))
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed: it is in the package prometheus"
)
DASHBOARD = json.loads((BASE / "deploy" / "grafana-dashboard.json").read_text(encoding="utf-8"))
OPERATIONS = BASE / "docs" / "operations"
MONITORING = (OPERATIONS / "monitoring.md").read_text(encoding="utf-8")
RESPONSES = (OPERATIONS / "alerts.md").read_text(encoding="utf-8")
COUNTED = (
    REQUESTS,
    meters.TASKS,
    meters.PASSES,
    meters.DECISIONS,
    meters.OBSERVED,
    meters.ENDINGS,
    meters.EVICTIONS,
    meters.IN_VAIN,
    meters.LOOPS,
)


def alerts() -> Iterator[str]:
    for group in ALERTS["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


def panels() -> Iterator[str]:
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    yield from (one["query"] for one in DASHBOARD["templating"]["list"] if one["type"] == "query")


EXPRESSIONS = [*alerts(), *panels()]


def _labels_of(family: Any) -> set[str]:
    return set(getattr(family, "_labelnames", ()))


def known() -> dict[str, set[str]]:
    """Every name that a sample of ours may have -> its labels."""
    found: dict[str, set[str]] = {}
    for family in (*Installation().collect(), *Stored().collect()):
        found[family.name] = _labels_of(family)
    for family in meters.THREADS.collect():
        found[f"{family.name}_total"] = _labels_of(family)
    for meter in COUNTED:
        (family,) = meter.collect()
        names = [f"{family.name}_{end}" for end in ("bucket", "count", "sum")]
        for name in names if family.type == "histogram" else [f"{family.name}_total"]:
            found[name] = {*meter._labelnames, *(["le"] if name.endswith("_bucket") else [])}
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_is_asked_for_is_told(expression: str) -> None:
    """Every metric that is named exists, with each label by which it is chosen, summed up or joined."""
    told = known()
    named = re.findall(r"scheduler_admin_\w+", expression)
    assert named
    assert set(named) <= told.keys()
    for name, chosen in re.findall(r"(scheduler_admin_\w+)\{([^}]*)\}", expression):
        assert set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", chosen)) <= told[name]
    for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
        assert all({label.strip() for label in labels.split(",")} <= told[name] for name in named)
    for label in re.findall(r"label_values\(.*, (\w+)\)", expression):
        assert label in told[named[0]]


@pytest.mark.django_db
def test_what_people_read_names_labels_that_are_there() -> None:
    """Alerts' sentences and the dashboard's legends use no label that their expression has not."""
    told = known()
    spoken = [(rule["expr"], rule["annotations"]["summary"]) for group in ALERTS["groups"] for rule in group["rules"]]
    spoken += [(one["expr"], one["legendFormat"]) for panel in DASHBOARD["panels"] for one in panel["targets"]]
    for expression, text in spoken:
        kept = re.findall(r"\b(?:by|on) \(([^)]*)\)", expression)
        labels = set.intersection(*(told[name] for name in re.findall(r"scheduler_admin_\w+", expression)))
        if kept:
            labels &= {label.strip() for label in kept[0].split(",")}
        used = set(re.findall(r"\{\{ ?\$labels\.(\w+)|\{\{(\w+)\}\}", text))
        assert {first or second for first, second in used} <= labels, text


@pytest.mark.django_db
def test_every_metric_is_explained() -> None:
    """The table of metrics in docs/operations/monitoring.md holds all of them, and no other."""
    section = MONITORING.split("\n## Metrics\n")[1].split("\n## ")[0]
    explained = set(re.findall(r"^\| `(scheduler_admin_\w+)`", section, re.MULTILINE))
    ends = ("_bucket", "_count", "_sum")
    assert explained == {re.sub(rf"({'|'.join(ends)})$", "", name) for name in known()}


def test_every_alert_says_what_to_do() -> None:
    """Each has a section in docs/operations/alerts.md, in the order of the rules, which is more than its name."""
    _before, *parts = re.split(r"^## (\w+)\n", RESPONSES, flags=re.MULTILINE)
    told = dict(zip(parts[::2], parts[1::2], strict=True))
    assert list(told) == [rule["alert"] for group in ALERTS["groups"] for rule in group["rules"]]
    assert all(len(text.split()) > 30 for text in told.values())


def test_sections_of_alerts_name_the_breakers_that_they_are_for() -> None:
    """A breaker that an alert chooses, and no other, is told of by name."""
    (chosen,) = re.findall(r'safeguard=~"([^"]+)"', " ".join(alerts()))
    section = RESPONSES.split("\n## SchedulerAdminEvictionsOnHold\n")[1].split("\n## ")[0]
    assert set(chosen.split("|")) == set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", section))


def test_every_alert_links_to_what_to_do() -> None:
    """By the anchor that Markdown gives to its section."""
    for group in ALERTS["groups"]:
        for rule in group["rules"]:
            assert rule["annotations"]["runbook_url"] == f"DOCS_URL/operations/alerts.md#{rule['alert'].lower()}"


def test_grafana_loads_the_dashboard() -> None:
    """Every member of it is one of Grafana's schema, with a value of its type."""
    assert mistakes(DASHBOARD) == []


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ({"titel": "Scheduler Admin"}, [".titel is not known"]),
        ({"refresh": 30}, [".refresh must be a <class 'str'>, not 30"]),
        (
            {"panels": [{"type": "timeseries", "gridPos": {"h": "8"}}]},
            [".panels[0].grid_pos.h must be a <class 'int'>"],
        ),
        (
            {"panels": [{"type": "timeseries", "fieldConfig": {"defaults": {"custom": {"fillOpacity": "much"}}}}]},
            [".panels[0].field_config.defaults.custom.fill_opacity must be a <class 'float'>"],
        ),
        (
            {
                "panels": [
                    {
                        "type": "timeseries",
                        "targets": [{"refId": "A", "datasource": {"type": "prometheus"}, "exp": "up"}],
                    }
                ]
            },
            [".panels[0].targets[0].exp is not known"],
        ),
        ({"templating": {"list": [{"name": "a", "type": "querry"}]}}, [".templating.list_val[0].type_val must be a"]),
    ],
)
def test_a_dashboard_that_grafana_would_not_take_is_found(wrong: dict[str, Any], found: list[str]) -> None:
    """So the test above can fail."""
    told = mistakes(DASHBOARD | wrong)
    assert [one.startswith(start) for one, start in zip(told, found, strict=True)] == [True], told


def test_panels_do_not_overlap_and_each_has_its_number() -> None:
    """Within the 24 columns of Grafana's grid."""
    places = [one["gridPos"] for one in DASHBOARD["panels"]]
    cells = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _y in cells) < 24
    assert len({one["id"] for one in DASHBOARD["panels"]}) == len(places)


@needs_promtool
def test_prometheus_reads_what_panels_ask(tmp_path: Path) -> None:
    """Each expression, with intervals in place of Grafana's variables, is one of PromQL."""
    asked = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    rules = [
        {"record": f"panel:{number}", "expr": one.replace("$__rate_interval", "5m")} for number, one in enumerate(asked)
    ]
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}), encoding="utf-8")
    checked = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@needs_promtool
def test_prometheus_loads_the_alerts() -> None:
    """Expressions, templates and times, as Prometheus itself checks them."""
    checked = subprocess.run(
        ["promtool", "check", "rules", BASE / "deploy" / "alerts.yaml"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
