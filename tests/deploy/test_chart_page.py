"""deploy/chart/README.md says what values.schema.json and values.yaml say."""

import json

import yaml

from tests.deploy.chart_page import CHART, PAGE, described, page, rows, schema


def test_the_page_is_what_the_schema_says() -> None:
    """``make chart-readme`` would change nothing."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_value_has_a_default_and_a_sentence() -> None:
    """The schema describes all values of values.yaml, and no others."""
    whole = schema()
    found = dict(described(whole, whole))
    assert [place for place, value in found.items() if not value.get("description", "").endswith(".")] == []
    assert len(list(rows())) == len(found) > 50
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    assert set(defaults) == set(json.loads((CHART / "values.schema.json").read_text())["properties"]) - {"global"}
