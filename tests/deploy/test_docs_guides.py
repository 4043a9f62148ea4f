"""The guides name what pages and commands really have, so a renamed button is found here and not by a reader."""

import re
from pathlib import Path

import pytest

from scheduler_admin_client.commands import cli
from tests.deploy.test_compose import BASE
from tests.deploy.test_docs import name

GUIDES = sorted((BASE / "docs" / "guides").glob("*.md"))
CATALOGUE = BASE / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"


@pytest.fixture(scope="module")
def page_texts() -> list[re.Pattern[str]]:
    """Return every text of the pages as a pattern, with any number where the text has a placeholder."""
    source = CATALOGUE.read_text(encoding="utf-8")
    quoted = re.findall(r'^msgid(?:_plural)? ((?:"(?:[^"\\]|\\.)*"\s*)+)', source, re.MULTILINE)
    texts = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', one)).replace('\\"', '"') for one in quoted]
    return [re.compile(re.sub(r"%\\\(\w+\\\)[sd]", r"\\d+", re.escape(text))) for text in texts]


@pytest.mark.parametrize("path", GUIDES, ids=name)
def test_what_is_in_bold_is_on_a_page(path: Path, page_texts: list[re.Pattern[str]]) -> None:
    """Guides put the names of buttons, fields and headings in bold, as the pages have them."""
    named = [text for text in re.findall(r"\*\*([^*]+)\*\*", path.read_text(encoding="utf-8")) if text[-1] != "?"]
    assert [text for text in named if not any(one.fullmatch(text) for one in page_texts)] == []


@pytest.mark.parametrize("path", GUIDES, ids=name)
def test_every_command_and_option_exists(path: Path) -> None:
    """Each `scheduler-admin` command of a guide exists, with the options that the guide gives it."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for command, rest in re.findall(r"scheduler-admin ([a-z]+)\b(?! --version)([^\n`|>]*)", text):
        options = {option for one in cli.commands[command].params for option in one.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= options, f"{command}{rest}"
