"""An empty cell says what holds there all the same, and by which queue above; it is never stored."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft
from tests.pages.queues.drafts import edited, page, row, send, started

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(ada: Client, demo: Cluster) -> Draft:
    """Ada's, nothing changed yet."""
    return started(demo)


def cell(html: str, draft: Draft, name: str, setting: str) -> tuple[str, str]:
    """Placeholder, or the word of the empty choice, and title of a field."""
    place = re.escape(f"f{row(draft, name).pk}-{setting}")
    found = re.search(rf'<(?:input|select) id="{place}"[^>]*>(?:<option value=""[^>]*>([^<]*))?', html)
    assert found is not None, (name, setting)
    shown, title = (re.search(rf' {word}="([^"]*)"', found[0]) for word in ("placeholder", "title"))
    return found[1] or (shown[1] if shown else ""), title[1] if title else ""


@pytest.mark.parametrize(
    ("above", "setting", "text", "shown"),
    [
        ("tenant-1", "max/memory", "3Ti", ("↑ 3Ti", "3Ti, inherited from root.tenant-1")),
        ("root", "max/memory", "3Ti", ("↑ 3Ti", "3Ti, inherited from root")),
        ("tenant-1", "guaranteed/example.com/fpga", "2", ("↑ 2", "2, inherited from root.tenant-1")),
        ("tenant-1", "preemption_policy", "disabled", ("↑ disabled", "disabled, inherited from root.tenant-1")),
        ("tenant-1", "quota_delay", "1m", ("↑ 1m", "1m, inherited from root.tenant-1")),
        ("tenant-1", "delay", "1m", ("–", "")),
    ],
)
def test_what_a_queue_above_says_holds_below(
    ada: Client, draft: Draft, above: str, setting: str, text: str, shown: tuple[str, str]
) -> None:
    """The nearest guarantee, the tightest max, preemption turned off; a leaf's delay is its own in the design."""
    edited(draft, above, setting, text)
    html = ada.get(page(draft, f"?queue={row(draft, 'training').pk}")).content.decode()
    if setting == "max/memory":
        edited(draft, "training", "max/memory", "")
        html = ada.get(page(draft)).content.decode()
    assert cell(html, draft, "training", setting) == shown
    assert row(draft, "training").settings.get(setting) != text


def test_a_delay_is_inherited_where_the_dialect_says_so(ada: Client, draft: Draft) -> None:
    """YuniKorn's."""
    edited(draft, "tenant-1", "delay", "1m")
    Draft.objects.update(dialect="yunikorn")
    html = ada.get(page(draft)).content.decode()
    assert cell(html, draft, "training", "delay") == ("↑ 1m", "1m, inherited from root.tenant-1")


def test_what_a_queue_says_itself_is_not_talked_over(ada: Client, draft: Draft) -> None:
    """Though the max above is tighter: that is lint's to say."""
    edited(draft, "tenant-1", "max/cpu", "100")
    html = ada.get(page(draft)).content.decode()
    assert cell(html, draft, "queue-b", "max/cpu") == ("–", "")


def test_a_script_is_told_of_it_once(ada: Client, draft: Draft) -> None:
    """By the queue above, not row by row; and only when it is another than what the page has."""
    top = row(draft, "tenant-1")
    form: dict[str, Any] = {"row": top.pk, "quota_delay": "1m", "was:quota_delay": ""}
    told = send(ada, draft, "edit", form, script=True).json()["inherited"]
    assert told["by_parent"][str(top.pk)]["quota_delay"] == ["↑ 1m", "1m, inherited from root.tenant-1"]
    form = {"row": row(draft, "queue-1").pk, "delay": "1m", "was:delay": "", "inherited": told["tag"]}
    assert json.loads(send(ada, draft, "edit", form, script=True).content)["inherited"] is None


def test_queues_that_form_no_tree_inherit_nothing(ada: Client, draft: Draft) -> None:
    """What can't be told is left out."""
    edited(draft, "tenant-1", "max/memory", "3Ti")
    row(draft, "tenant-1").children.create(draft=draft, name="queue-b")
    html = ada.get(page(draft)).content.decode()
    assert "from root" not in html
