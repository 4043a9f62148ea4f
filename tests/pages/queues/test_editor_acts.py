"""Every act on a draft, as a plain form and as the page's script sends it; whatever is wrong is said at its place."""

import re
from typing import Any

import pytest
from django.test import Client

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft, DraftQueue
from tests.pages import rows
from tests.pages.queues.drafts import edited, page, row, send, started, texts

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(ada: Client, demo: Cluster) -> Draft:
    """Ada's, nothing changed yet."""
    return started(demo)


def paths(draft: Draft) -> dict[str, str | None]:
    """Queue -> its parent."""
    return dict(DraftQueue.objects.filter(draft=draft).values_list("name", "parent__name"))


def test_a_queue_is_edited_by_a_plain_form(ada: Client, draft: Draft) -> None:
    """Every setting that was typed anew; the page comes again where one was."""
    queue = row(draft, "queue-b")
    form = {
        "row": queue.pk,
        "max/cpu": "300",
        "was:max/cpu": "320",
        "delay": "1m",
        "was:delay": "",
        "namespaces": "search, lab",
        "was:namespaces": "",
        "evict_uncontrolled": "true",
        "was:evict_uncontrolled": "",
        "guaranteed/cpu": "160",
        "was:guaranteed/cpu": "160",
    }
    response = send(ada, draft, "edit", form, query=f"?queue={queue.pk}&resource=example.com/fpga")
    assert response.url == f"{page(draft)}?resource=example.com%2Ffpga#n{queue.pk}"
    queue.refresh_from_db()
    assert [queue.settings[name] for name in ("max/cpu", "delay", "namespaces", "evict_uncontrolled")] == [
        "300",
        "1m",
        "search, lab",
        "true",
    ]
    assert Draft.objects.get().version == 5


def test_a_queue_is_added_renamed_moved_and_deleted_by_plain_forms(ada: Client, draft: Draft) -> None:
    """One after the other."""
    send(ada, draft, "add", {"row": row(draft, "tenant-2").pk, "name": "adhoc"})
    assert paths(draft)["adhoc"] == "tenant-2"
    send(ada, draft, "rename", {"row": row(draft, "adhoc").pk, "name": "lab", "was": "adhoc"})
    assert paths(draft)["lab"] == "tenant-2"
    form = {"row": row(draft, "lab").pk, "parent": row(draft, "tenant-1").pk, "was": row(draft, "tenant-2").pk}
    send(ada, draft, "move", form)
    assert paths(draft)["lab"] == "tenant-1"
    version = Draft.objects.get().version
    response = send(ada, draft, "delete", {"row": row(draft, "tenant-1").pk, "version": version})
    assert response.url == f"{page(draft)}?#n{row(draft, 'root').pk}"
    assert set(paths(draft)) == {"root", "system", "tenant-2", "queue-1", "queue-2", "queue-a"}


@pytest.mark.parametrize(
    ("act", "name", "form", "says"),
    [
        ("add", "tenant-2", {"name": "queue-1"}, "Queue queue-1 is defined twice."),
        ("add", "tenant-2", {"name": "a b"}, "is not a valid queue name"),
        ("add", "tenant-2", {"name": ""}, "is not a valid queue name"),
        ("rename", "queue-1", {"name": "queue-2", "was": "queue-1"}, "Queue queue-2 is defined twice."),
        ("rename", "root", {"name": "top", "was": "root"}, "The root queue is always named root."),
        ("delete", "root", {"version": "1"}, "The root queue can't be deleted."),
        ("edit", "queue-1", {"colour": "red", "was:colour": ""}, "There is no setting colour."),
    ],
)
def test_what_is_not_allowed_is_said_with_the_form_as_it_was(
    ada: Client, draft: Draft, act: str, name: str, form: dict[str, Any], says: str
) -> None:
    """The row is still unfolded, what was typed still there; a script gets the sentence alone."""
    queue = row(draft, name)
    response = send(ada, draft, act, {"row": queue.pk, **form}, query=f"?queue={queue.pk}&act={act}")
    assert response.status_code == 422
    html = response.content.decode()
    assert says in texts(html).replace("&#x27;", "'")
    if act in ("add", "rename"):
        assert f'value="{form["name"]}"' in html
    answer = send(ada, draft, act, {"row": queue.pk, **form}, script=True)
    assert answer.status_code == 422
    assert says in texts(answer.json()["html"]).replace("&#x27;", "'")
    assert Draft.objects.get().version == 1


def test_a_queue_cannot_be_moved_below_itself(ada: Client, draft: Draft) -> None:
    """Nor is that offered."""
    top, root = row(draft, "tenant-1"), row(draft, "root")
    form = {"row": top.pk, "parent": row(draft, "queue-b").pk, "was": root.pk}
    assert send(ada, draft, "move", form).status_code == 422
    html = ada.get(page(draft, f"?queue={top.pk}&act=move")).content.decode()
    assert "root.tenant-2</option>" in html
    assert "root.tenant-1.queue-b</option>" not in html


def test_what_somebody_else_typed_meanwhile_is_shown_and_not_overwritten(ada: Client, draft: Draft) -> None:
    """A script gets what it says now, with both ways on; a plain form both texts in a sentence."""
    queue = row(draft, "queue-b")
    rows.user("rae")
    edited(draft, "queue-b", "max/cpu", "400", by="rae")
    form = {"row": queue.pk, "max/cpu": "300", "was:max/cpu": "320"}
    answer = send(ada, draft, "edit", form, script=True)
    assert (answer.status_code, answer.json()["now"]) == (409, "400")
    assert "The current value is 400; you entered 300." in texts(answer.json()["html"])
    assert "Keep mine" in answer.json()["html"]
    plain = send(ada, draft, "edit", form)
    assert plain.status_code == 409
    assert "The current value is 400; you entered 300." in texts(plain.content.decode())
    edited(draft, "queue-a", "delay", "1m")
    assert "rae changed max cpu in the meantime." in texts(send(ada, draft, "edit", form).content.decode())
    draft.acts.all().delete()  # as the oldest are: by now nobody knows whose the last act in queue-b was
    assert "Someone else changed max cpu" in texts(send(ada, draft, "edit", form).content.decode())
    assert row(draft, "queue-b").settings["max/cpu"] == "400"


def test_of_a_form_with_one_clash_the_rest_is_saved(ada: Client, draft: Draft) -> None:
    """Nothing typed is lost for it."""
    edited(draft, "queue-b", "max/cpu", "400")
    form = {"row": row(draft, "queue-b").pk, "max/cpu": "300", "was:max/cpu": "320", "delay": "1m", "was:delay": ""}
    assert send(ada, draft, "edit", form).status_code == 409
    assert row(draft, "queue-b").settings.get("delay", "") == "1m"


def test_a_strange_form_breaks_nothing(ada: Client, draft: Draft) -> None:
    """Two clashes sent by a script at once; a NUL, which no database takes; numbers beyond all bounds."""
    edited(draft, "queue-b", "max/cpu", "400")
    edited(draft, "queue-b", "delay", "2m")
    queue = row(draft, "queue-b").pk
    form = {"row": queue, "max/cpu": "300", "was:max/cpu": "320", "delay": "1m", "was:delay": ""}
    assert send(ada, draft, "edit", form, script=True).status_code == 409
    assert send(ada, draft, "edit", {"row": queue, "delay": "1\0", "was:delay": "2m"}).status_code == 400
    assert send(ada, draft, "edit", {"row": queue, "max/\0": "1", "was:max/\0": ""}).status_code == 400
    long = f"max/{'x' * 400}"
    answer = send(ada, draft, "edit", {"row": queue, long: "1", f"was:{long}": ""}, script=True)
    assert "Enter at most 317 characters." in texts(answer.json()["html"])
    assert send(ada, draft, "edit", {"row": "9" * 30, "delay": "1m", "was:delay": ""}).status_code == 410
    assert send(ada, draft, "publish", {"version": "9" * 30, "reason": "x"}).status_code == 412


@pytest.mark.parametrize(("setting", "most"), [("max/cpu", 100), ("delay", 100), ("namespaces", 5000)])
def test_a_text_that_is_too_long_is_refused_whole(ada: Client, draft: Draft, setting: str, most: int) -> None:
    """In words; the field itself cuts nothing."""
    queue, long = row(draft, "queue-2"), "7" * (most + 1)
    answer = send(ada, draft, "edit", {"row": queue.pk, setting: long, f"was:{setting}": ""}, script=True)
    assert answer.status_code == 422
    assert f"{most} characters" in texts(answer.json()["html"])
    html = ada.get(page(draft, f"?queue={queue.pk}")).content.decode()
    assert not re.search("data-setting[^>]*maxlength", html)


def test_what_one_did_not_touch_never_clashes(ada: Client, draft: Draft) -> None:
    """Another's change of a field that the form only carries along stays."""
    edited(draft, "queue-b", "max/cpu", "400")
    form = {"row": row(draft, "queue-b").pk, "max/cpu": "320", "was:max/cpu": "320", "delay": "1m", "was:delay": ""}
    assert send(ada, draft, "edit", form).status_code == 302
    assert row(draft, "queue-b").settings["max/cpu"] == "400"


def test_a_queue_that_is_gone_says_so(ada: Client, draft: Draft) -> None:
    """To a script and to a form; a number that is none is the same."""
    for number in ("999999", "x", ""):
        answer = send(ada, draft, "edit", {"row": number, "delay": "1m", "was:delay": ""}, script=True)
        assert answer.status_code == 410
        assert "deleted this queue" in texts(answer.json()["html"])
        assert send(ada, draft, "rename", {"row": number, "name": "x", "was": "y"}).status_code == 410


def test_deleting_what_changed_since_it_was_read_is_refused(ada: Client, draft: Draft) -> None:
    """Named, so that one can look."""
    rows.user("rae")
    edited(draft, "queue-b", "max/cpu", "400", by="rae")
    response = send(ada, draft, "delete", {"row": row(draft, "tenant-1").pk, "version": 1})
    assert response.status_code == 409
    assert "rae changed this in the meantime (now: queue-b)." in texts(response.content.decode())


def test_a_script_is_told_where_to_go_on(ada: Client, draft: Draft) -> None:
    """At the new queue; after deleting at the parent."""
    added = send(ada, draft, "add", {"row": row(draft, "tenant-2").pk, "name": "adhoc"}, script=True).json()
    assert added["focus"] == f"n{row(draft, 'adhoc').pk}"
    form = {"row": row(draft, "adhoc").pk, "version": added["version"]}
    gone = send(ada, draft, "delete", form, script=True).json()
    assert gone["focus"] == f"n{row(draft, 'tenant-2').pk}"
    assert row(draft, "tenant-2").pk in gone["order"]


def test_a_draft_is_discarded(ada: Client, draft: Draft) -> None:
    """And its page is gone, for a script too."""
    assert send(ada, draft, "discard", {}).url == "/clusters/demo/editor/"
    assert ada.get(page(draft)).status_code == 404
    assert send(ada, draft, "edit", {}, script=True).status_code == 404
