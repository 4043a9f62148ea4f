"""What people find who want to report or change something."""

import re
from pathlib import Path

import pytest
import yaml

from tests.documentation.documents import BASE, DOCUMENTS

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


def test_every_target_of_make_that_a_document_names_exists() -> None:
    """As the first things that a newcomer does; in code of a sentence, or as a line of its own."""
    targets = set(re.findall(r"^([a-z-]+):", (BASE / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    template = BASE / ".github" / "pull_request_template.md"
    for path in (*DOCUMENTS, template):
        code = re.findall(r"(?:`|^)make ([a-z -]+?)(?=`| [A-Z]|$)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert {word for words in code for word in words.split()} <= targets, path
    assert "make quick" in template.read_text(encoding="utf-8")
