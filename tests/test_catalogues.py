"""The catalogues: complete, true to the placeholders, in step with the sources, and served to whom they are for."""

import gettext
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client
from django.utils import translation
from django.utils.translation import trans_real

from engine.explain.decision.sentence_texts import PLAIN, PREEMPTOR_REASON, Tense
from engine.explain.decision.verdicts import hold_message
from engine.model.message import Message as EngineMessage
from engine.model.message import Name, plural_message
from scheduler_admin.comparisons import runs, services
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.core import translation as messages
from scheduler_admin.core.words import work_text
from tests.waiting import PATIENCE_S

ROOT = Path(settings.BASE_DIR)
LOCALE = "zh_Hans"
CATALOGUE = ROOT / "locale" / LOCALE / "LC_MESSAGES" / "django.po"
CLIENT = ROOT / "scheduler_admin_client"
CLIENT_CATALOGUE = CLIENT / "locale" / LOCALE / "LC_MESSAGES" / "scheduler_admin_client.po"
PLACEHOLDER = re.compile(r"%%?\(\w+\)[a-z]|%%|%[a-z]")
NOT_SOURCES = (
    *(".*", "docs", "locale", "static", "staticfiles", "tests", "var", "node_modules", "__pycache__"),
    *("dist", "scheduler_admin_client"),
)
EXTRACT = """
import django
from django.core.management import call_command

django.setup()
call_command("makemessages", locale=["zh_Hans"], no_location=True, verbosity=0)
"""


def _read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=LOCALE)


def _messages(catalogue: Catalog) -> list[Message]:
    return [message for message in catalogue if message.id]


def _texts(text: str | tuple[str, ...] | list[str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def _key(message: Message) -> tuple[str | None, str]:
    return message.context, "\0".join(_texts(message.id))


@pytest.fixture(scope="session")
def catalogue() -> Catalog:
    return _read(CATALOGUE)


@pytest.fixture(scope="session", params=[CATALOGUE, CLIENT_CATALOGUE], ids=["server", "client"])
def each_catalogue(request: pytest.FixtureRequest) -> Catalog:
    return _read(request.param)


@pytest.fixture(scope="session")
def compiled(catalogue: Catalog) -> None:
    """The catalogue as `make setup` compiles it, in place, where it is missing or older than its source."""
    target = CATALOGUE.with_suffix(".mo")
    if not target.exists() or target.stat().st_mtime < CATALOGUE.stat().st_mtime:
        made = target.with_name(f"{target.name}.{os.getpid()}")
        with made.open("wb") as file:
            write_mo(file, catalogue)
        made.replace(target)  # at once: other workers may read it
    gettext._translations.clear()  # type: ignore[attr-defined]
    trans_real._translations.clear()  # type: ignore[attr-defined]


def test_every_message_is_translated(each_catalogue: Catalog) -> None:
    """No message lacks its translation or waits for somebody to check it."""
    messages = _messages(each_catalogue)
    assert not each_catalogue.fuzzy
    assert len(messages) > 60
    assert [each.id for each in messages if each.fuzzy or not all(_texts(each.string)) or not each.string] == []


def test_placeholders_are_the_same(each_catalogue: Catalog) -> None:
    """A translation fills in what its message fills in, no less and no more."""
    wrong = {
        each.id: each.string
        for each in _messages(each_catalogue)
        if {found for text in _texts(each.id) for found in PLACEHOLDER.findall(text)}
        != {found for text in _texts(each.string) for found in PLACEHOLDER.findall(text)}
    }
    assert wrong == {}


def test_markup_is_the_same(catalogue: Catalog) -> None:
    """A translation has the tags of its message, and begins and ends a line where its message does."""
    tag = re.compile(r"<[^<>]*>")
    wrong = [
        each.id
        for each in _messages(catalogue)
        for text in _texts(each.string)
        if sorted(tag.findall(_texts(each.id)[-1])) != sorted(tag.findall(text))
        or [text.startswith("\n"), text.endswith("\n")]
        != [_texts(each.id)[-1].startswith("\n"), _texts(each.id)[-1].endswith("\n")]
    ]
    assert wrong == []


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="GNU gettext is not installed")
def test_the_catalogue_has_every_text_of_the_sources(catalogue: Catalog, tmp_path: Path) -> None:
    """Extracting anew finds no message that the catalogue lacks, and the catalogue has none that nobody shows."""
    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_SOURCES))
    (copy / "locale").mkdir()
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "scheduler_admin.settings", "SECRET_KEY": "only-to-extract"}
    subprocess.run(
        [sys.executable, "-c", EXTRACT], cwd=copy, env=environment, check=True, capture_output=True, timeout=PATIENCE_S
    )
    found = {_key(each) for each in _messages(_read(copy / "locale" / LOCALE / "LC_MESSAGES" / "django.po"))}
    known = {_key(each) for each in _messages(catalogue)}
    assert (found - known, known - found) == (set(), set())


def test_the_clients_catalogue_has_every_text_of_its_sources() -> None:
    """It is a distribution of its own, and finds its words in itself."""
    found = extract_from_dir(CLIENT, keywords={"_": None, "ngettext": (1, 2)})
    assert {_texts(text)[0] for _, _, text, *_ in found} == {
        _texts(each.id)[0] for each in _messages(_read(CLIENT_CATALOGUE))
    }


@pytest.mark.django_db
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("wanted", ["zh-CN", "zh-CN,zh;q=0.9,en;q=0.8", "zh-hans", "zh-Hans-CN"])
def test_readers_of_chinese_get_it(client: Client, wanted: str) -> None:
    """A browser set to Simplified Chinese reads the pages in it."""
    page = client.get("/sign-in/", headers={"accept-language": wanted}, secure=True).content.decode()
    assert '<html lang="zh-hans">' in page
    assert "登录" in page
    assert "Sign in" not in page


@pytest.mark.django_db
@pytest.mark.usefixtures("compiled")
def test_others_read_english(client: Client) -> None:
    """A browser set to a language that there is no catalogue for reads English."""
    page = client.get("/sign-in/", headers={"accept-language": "is"}, secure=True).content.decode()
    assert '<html lang="en">' in page
    assert "Sign in" in page


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("count", [1, 3])
def test_sentences_that_count_are_translated(count: int) -> None:
    """The one sentence of a decision is read in Chinese, with as many pods as there are."""
    names = {"ask": Name("train-0"), "queues": "queue-b", "node": Name("node-1")}
    with translation.override("zh-hans"):
        said = messages.text(plural_message(PLAIN[Tense.EVICTED], count, **names))
    assert said == f"为了给 train-0 腾出空间，queue-b 的 {count} 个 Pod 已从 node-1 上被驱逐。"


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Pods of b would be evicted from n1 to make room for a. The decision is on hold."),
        ("zh-hans", "为了给 a 腾出空间，b 的 Pod 会从 n1 上被驱逐。该决策已暂缓。"),
    ],
)
def test_two_sentences_are_apart_as_their_language_sets_them(language: str, said: str) -> None:
    """English has a blank between them."""
    names = {"pod": Name("a"), "node": Name("n1"), "queues": "b"}
    with translation.override(language):
        found = messages.join_sentences([EngineMessage(PREEMPTOR_REASON[Tense.WOULD], names), hold_message("")])
    assert found == said


@pytest.mark.usefixtures("compiled")
def test_a_word_of_several_senses_is_translated_in_each() -> None:
    """Both the role and the page are an "Editor" in English, but not in Chinese."""
    with translation.override("zh-hans"):
        assert work_text({}) == "无"
        assert translation.pgettext("role", "Editor") == "编辑者"
        assert translation.gettext("Editor") == "编辑器"


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("trouble", "said"),
    [(runs.TOO_LONG, "耗时过长"), (runs.BROKEN, "比较失败"), (services.KILLED, "请重新开始")],
)
def test_why_a_comparison_failed_is_translated_where_it_is_read(trouble: str, said: str) -> None:
    """It is kept in English, as whoever reads it later may read another language than whoever began it."""
    with translation.override("zh-hans"):
        shown = render_to_string("comparisons/_comparison.html", {"one": Comparison(state="failed", trouble=trouble)})
    assert said in shown
    assert trouble not in shown
