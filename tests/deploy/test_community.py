"""What people find who want to report or change something."""

from pathlib import Path

import pytest
import yaml

BASE = Path(__file__).resolve().parents[2]
FORMS = sorted((BASE / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
KINDS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


@pytest.mark.parametrize("form", [path for path in FORMS if path.name != "config.yml"], ids=lambda path: path.stem)
def test_a_form_is_one_that_the_site_shows(form: Path) -> None:
    """A form with a mistake is left out there without a word."""
    asked = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert asked["name"]
    assert asked["description"]
    fields = [field for field in asked["body"] if field["type"] != "markdown"]
    assert fields
    assert {field["type"] for field in asked["body"]} <= KINDS
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert all(field["attributes"]["options"] for field in fields if field["type"] == "dropdown")


def test_targets_that_the_template_of_a_change_names_exist() -> None:
    """As the first thing that a newcomer does."""
    template = (BASE / ".github" / "pull_request_template.md").read_text(encoding="utf-8")
    assert "\nquick: " in (BASE / "Makefile").read_text(encoding="utf-8")
    assert "make quick" in template
