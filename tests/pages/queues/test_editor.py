"""The editor's pages: who may see them, what they say, and that they stay quick."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts.tree_document import queues_of
from scheduler_admin.queues.models import Draft, Hierarchy
from scheduler_admin.queues.services.hierarchies import tree_of
from tests.pages import rows
from tests.pages.queues.drafts import SCRIPT, decided, edited, page, publish_another, row, send, started, texts

pytestmark = pytest.mark.django_db
LIST = "/clusters/demo/editor/"


@pytest.fixture
def draft(ada: Client, demo: Cluster) -> Draft:
    """Ada's, nothing changed yet."""
    return started(demo)


def shown(client: Client, address: str, status: int = 200) -> str:
    """The text of a page, without its frame."""
    response = client.get(address)
    assert response.status_code == status
    html = response.content.decode()
    return texts(html[html.index("<main") : html.index("</main>")])


NEW = "/clusters/demo/drafts/new-1/"
"""The address of the draft on revision 1 that nobody changed yet."""


def test_the_editor_opens_with_the_tree_in_force(ada: Client, demo: Cluster) -> None:
    """Every queue with its settings, to be typed in at once; looking stores nothing."""
    html = ada.get(LIST).content.decode()
    assert 'aria-label="queue-b, max cpu"' in html
    assert f'action="{NEW}publish/"' in html
    assert "your first change starts a draft" in texts(html)
    assert ada.get(NEW).status_code == 200
    assert ada.get(f"{NEW}news/").status_code == 200
    assert not Draft.objects.exists()


def test_the_first_change_starts_a_draft(ada: Client, demo: Cluster) -> None:
    """With what was typed in it, of the queue at that place; it is named after its author, and listed."""
    place = list(tree_of(demo.hierarchy.current).walk()).index("root.tenant-1.queue-b") + 1
    response = ada.post(f"{NEW}edit/", {"row": place, "max/cpu": "300", "was:max/cpu": "320"})
    draft = Draft.objects.get()
    assert response["Location"].startswith(page(draft))
    assert (draft.name, draft.version) == ("Changes by ada", 2)
    assert row(draft, "queue-b").settings["max/cpu"] == "300"
    listed = shown(ada, LIST)
    assert "1 open draft" in listed
    assert "Changes by ada ada" in listed
    assert "ready to publish" in listed


def test_a_second_draft_has_a_name_of_its_own(ada: Client, demo: Cluster) -> None:
    """And people give it a better one."""
    for delay in ("1m", "2m"):
        ada.post(f"{NEW}edit/", {"row": 2, "delay": delay, "was:delay": ""})
    first, second = Draft.objects.order_by("pk")
    assert (first.name, second.name) == ("Changes by ada", "Changes by ada 2")
    assert send(ada, second, "name", {"name": " Room for vision "}).status_code == 302
    second.refresh_from_db()
    assert second.name == "Room for vision"
    refused = send(ada, second, "name", {"name": " "})
    assert refused.status_code == 422
    assert "This field is required." in texts(refused.content.decode())


@pytest.mark.parametrize(
    ("act", "form", "status"),
    [
        ("edit", {"row": "2", "delay": "1m", "was:delay": "9m"}, 409),
        ("edit", {"row": "2", "nothing": "1", "was:nothing": ""}, 422),
        ("edit", {"row": "99", "delay": "1m", "was:delay": ""}, 410),
        ("edit", {"row": "2", "delay": "", "was:delay": "x"}, 302),
        ("add", {"row": "1", "name": "no name"}, 422),
        ("undo", {}, 302),
        ("publish", {"version": "1", "reason": "x"}, 404),
        ("discard", {}, 404),
        ("approve", {"version": "1", "reason": "x"}, 404),
    ],
)
def test_what_changes_nothing_starts_no_draft(
    ada: Client, demo: Cluster, act: str, form: dict[str, str], status: int
) -> None:
    """An act that is refused, or that comes to nothing."""
    assert ada.post(f"{NEW}{act}/", form).status_code == status
    assert not Draft.objects.exists()


def test_a_change_to_a_superseded_revision_starts_a_draft_that_is_to_be_merged(ada: Client, demo: Cluster) -> None:
    """The page was open while another revision was published: what was typed is kept, of the queue it was typed for."""
    publish_another(demo, "root.queue-a", guaranteed={"cpu": 100_000})
    ada.post(f"{NEW}edit/", {"row": 2, "delay": "1m", "was:delay": ""})
    draft = Draft.objects.get()
    assert (draft.base.number, draft.outdated) == (1, True)
    assert "Merge" in shown(ada, page(draft))


def test_a_script_is_told_what_the_rows_are_called_once_they_are_stored(ada: Client, demo: Cluster) -> None:
    """All of them anew, with the addresses of the draft; what was folded stays folded."""
    form = {"row": 2, "delay": "1m", "was:delay": ""}
    answer = ada.post(f"{NEW}edit/?folded=4", form, headers=SCRIPT).json()
    draft = Draft.objects.get()
    keys = [one.pk for one in queues_of(draft)]
    assert answer["started"] == {"was": NEW, "now": page(draft), "rows": keys}
    assert (sorted(map(int, answer["rows"])), answer["order"]) == (sorted(keys), keys)
    assert 'aria-expanded="false"' in answer["rows"][str(keys[3])]


def test_a_revision_that_is_not_there_is_not_found(ada: Client, demo: Cluster) -> None:
    """Nor one of another tree."""
    assert ada.get("/clusters/demo/drafts/new-9/").status_code == 404
    assert ada.post("/clusters/demo/drafts/new-9/edit/", {"row": 2}).status_code == 404


def test_without_a_tree_the_editor_leads_to_the_import(ada: Client) -> None:
    """With a hierarchy that has no revision, and with none at all."""
    Cluster.objects.create(name="demo")
    assert "import_queues" in shown(ada, LIST)
    assert "import_queues" in shown(ada, "/clusters/demo/revisions/")
    Cluster.objects.update(hierarchy=Hierarchy.objects.create(name="empty"))
    assert "Import a tree to begin with." in shown(ada, LIST)


def test_those_who_only_read_see_no_fields_and_no_buttons(otto: Client, audrey: Client, draft: Draft) -> None:
    """Operators and auditors read the draft, also unfolded, and can't act."""
    for client in (otto, audrey):
        html = client.get(page(draft, f"?queue={row(draft, 'queue-b').pk}")).content.decode()
        assert "data-setting" not in html
        assert "Publish as" not in html
        assert "are never preempted" in html
        for act in ("edit", "add", "rename", "move", "delete", "merge", "choose", "publish", "discard"):
            assert send(client, draft, act, {"row": row(draft, "queue-b").pk}).status_code == 403
        assert "data-setting" not in client.get(LIST).content.decode()
        assert client.post(f"{NEW}edit/", {"row": 2}).status_code == 403
    assert Draft.objects.get().version == 1


def test_tenants_and_strangers_find_nothing(tess: Client, carl: Client, draft: Draft) -> None:
    """A draft shows the whole tree."""
    for client in (tess, carl):
        for address in (LIST, page(draft), page(draft, "news/"), page(draft, "forecast/"), "/clusters/demo/revisions/"):
            assert client.get(address).status_code == 404
        assert send(client, draft, "discard", {}).status_code == 404


def test_a_draft_is_only_found_under_a_cluster_of_its_tree(ada: Client, draft: Draft) -> None:
    """Another cluster has other drafts."""
    rows.cluster("other")
    assert ada.get(f"/clusters/other/drafts/{draft.pk}/").status_code == 404


def test_the_grid_has_a_field_for_every_setting(ada: Client, draft: Draft) -> None:
    """Resources of the tree and the cluster are columns; another can be asked for in the address."""
    html = ada.get(page(draft, "?resource=example.com/fpga")).content.decode()
    queue = row(draft, "queue-b").pk
    for setting in (
        "guaranteed/cpu",
        "max/nvidia.com/gpu",
        "guaranteed/example.com/fpga",
        "delay",
        "preemption_policy",
    ):
        assert f'id="f{queue}-{setting}"' in html
    assert 'value="1Ti"' in html


def test_what_is_changed_says_what_it_was(ada: Client, draft: Draft) -> None:
    """Beside the field, and in words against the revision."""
    edited(draft, "training", "guaranteed/nvidia.com/gpu", "18")
    said = shown(ada, page(draft))
    assert "was 16" in said
    assert "root.tenant-1.training : guaranteed nvidia.com/gpu 16 → 18" in said
    assert "1 queue changed" in said


def test_an_error_stands_under_its_field_with_what_may_have_been_meant(ada: Client, draft: Draft) -> None:
    """Tied to it, with a button for each suggestion; the publish button says what to fix first."""
    edited(draft, "queue-b", "max/memory", "128Gb")
    html, queue = ada.get(page(draft)).content.decode(), row(draft, "queue-b").pk
    assert f'aria-invalid="true" aria-describedby="e{queue}-max/memory"' in html
    assert f'id="e{queue}-max/memory"' in html
    assert '<button class="link" name="max/memory" value="128Gi">128Gi</button>' in html
    assert 'aria-disabled="true"' in html
    assert "Fix 1 error first: queue-b, max memory." in texts(html)
    assert "max memory 2Ti → 128Gb" in texts(html)


def test_a_check_says_what_to_do_about_it(ada: Client, draft: Draft) -> None:
    """And leads to the field, a note as well as a warning."""
    edited(draft, "queue-b", "preemption_policy", "fence")
    html, queue = ada.get(page(draft)).content.decode(), row(draft, "queue-b").pk
    assert "Its own fence lets nothing out, so it can’t preempt, regardless of its guarantee." in texts(html)
    assert "If it should preempt, set the fence on its parent queue instead." in texts(html)
    assert f'{queue}-preemption_policy">queue-b</a>' in html


def test_under_policy_priority_no_check_speaks_of_guarantees(ada: Client, draft: Draft) -> None:
    """None counts there."""
    decided(draft, "policy", "priority")
    edited(draft, "queue-a", "guaranteed/cpu", "100000")
    checks = ada.get(page(draft)).content.decode().partition('id="draft-checks"')[2].partition("</section>")[0]
    assert "uarantee" not in checks


def test_what_is_wrong_in_many_places_is_said_once(ada: Client, draft: Draft) -> None:
    """With a link to each of them."""
    for name in ("queue-a", "queue-b"):
        edited(draft, name, "delay", "10")
    checks = ada.get(page(draft)).content.decode().partition('id="draft-checks"')[2].partition("</section>")[0]
    assert checks.count("10 is not a valid duration") == 1
    assert "2 queues or settings" in checks
    for name in ("queue-a", "queue-b"):
        assert f'-delay">{name}, preemption delay</a>' in checks


def test_a_suggestion_is_a_button_that_works_without_a_script(ada: Client, draft: Draft) -> None:
    """Its form holds what was seen."""
    edited(draft, "queue-b", "max/memory", "128Gb")
    queue = row(draft, "queue-b")
    send(ada, draft, "edit", {"row": queue.pk, "was:max/memory": "128Gb", "max/memory": "128Gi"})
    assert row(draft, "queue-b").settings["max/memory"] == "128Gi"


def test_what_can_not_be_read_misleads_no_check(ada: Client, draft: Draft) -> None:
    """Nothing is said of guarantees that are only mistyped, nor of what fits without them, nor of evictions."""
    edited(draft, "tenant-2", "guaranteed/cpu", "")
    edited(draft, "queue-a", "guaranteed/cpu", "")
    for name in ("guaranteed/memory", "guaranteed/nvidia.com/gpu"):
        edited(draft, "queue-a", name, "")
    assert "It has no guarantee" in shown(ada, page(draft))
    edited(draft, "queue-a", "guaranteed/cpu", "many")
    said = shown(ada, page(draft, "?forecast=1"))
    assert "1 error" in said
    assert not re.search("It has no guarantee|The guarantees (fit|exceed)|[Ee]vict", said)


def test_errors_of_a_row_stand_in_the_order_of_its_columns(ada: Client, draft: Draft) -> None:
    """What has no column comes first, as it is told below the name."""
    for setting in ("delay", "max/nvidia.com/gpu", "max/cpu", "guaranteed/memory", "priority_offset"):
        edited(draft, "queue-b", setting, "x y")
    html, queue = ada.get(page(draft)).content.decode(), row(draft, "queue-b").pk
    places = re.findall(f' id="e{queue}-([^"]+)"', html)
    assert places == ["priority_offset", "guaranteed/memory", "max/cpu", "max/nvidia.com/gpu", "delay"]


def test_a_check_says_its_place_once(ada: Client, draft: Draft) -> None:
    """Where the sentence names the setting, the link names the queue alone, and leads to the field all the same."""
    edited(draft, "training", "guaranteed/nvidia.com/gpu", "99")
    edited(draft, "queue-b", "max/memory", "128Gb")
    html, queue = ada.get(page(draft)).content.decode(), row(draft, "training").pk
    assert f'<a href="#f{queue}-guaranteed/nvidia.com/gpu">training</a>' in html
    assert ">queue-b, max memory</a>" in html


def test_what_is_typed_is_escaped(ada: Client, draft: Draft) -> None:
    """In the field, in the error, in the panels."""
    edited(draft, "queue-b", "max/memory", '"><script>alert(1)</script>')
    edited(draft, "queue-b", "namespaces", "<b>%(x)s</b>")
    html = ada.get(page(draft)).content.decode()
    assert "<script>alert" not in html
    assert "<b>%(x)s" not in html


def test_a_finding_leads_to_its_field(ada: Client, draft: Draft) -> None:
    """In the grid, or in what the row unfolds."""
    edited(draft, "queue-b", "max/memory", "128Gb")
    edited(draft, "queue-b", "priority_offset", "high")
    html, queue = ada.get(page(draft)).content.decode(), row(draft, "queue-b").pk
    assert f'href="#f{queue}-max/memory"' in html
    assert f'href="?queue={queue}#f{queue}-priority_offset"' in html


def test_who_else_has_a_draft_open_is_named_with_what_it_changes(ada: Client, demo: Cluster, draft: Draft) -> None:
    """With the way there; one that changes nothing yet is not worth a notice."""
    rows.user("rae")
    other = started(demo, "Less for a", by="rae")
    assert "another open draft" not in shown(ada, page(draft))
    edited(other, "queue-a", "guaranteed/cpu", "144", by="rae")
    said = shown(ada, page(draft))
    assert "rae has another open draft , “Less for a”. It changes:" in said
    assert "root.queue-a : guaranteed cpu 160 → 144" in said
    assert "and 1 more" not in said
    edited(other, "queue-a", "max/cpu", "300", by="rae")
    assert "; and 1 more. Whoever publishes second must merge." in shown(ada, page(draft))


def test_ones_own_other_draft_is_called_so_and_many_take_one_line(ada: Client, demo: Cluster, draft: Draft) -> None:
    """Also when somebody else changed it last; the latest is named, the others are counted."""
    rows.user("rae")
    for number in range(4):
        edited(started(demo, f"Try {number}"), "queue-b", "delay", "1m", by="rae")
    said = shown(ada, page(draft))
    assert said.count("You have another open draft") == 1
    assert "3 more drafts are open. View open drafts" in said


def test_deleting_says_in_numbers_what_goes(ada: Client, demo: Cluster, draft: Draft) -> None:
    """Queues below, pods that run, asks that wait; before anything happens."""
    figures = demo.status.queues
    for path, pods in (("root.tenant-1.queue-b", 9), ("root.tenant-1.training", 3), ("root.queue-a", 50)):
        figures[path]["used"]["pods"] = pods
    demo.status.save()
    said = shown(ada, page(draft, f"?queue={row(draft, 'tenant-1').pk}&act=delete"))
    assert "Deletes tenant-1 and 2 queues below it." in said
    assert "12 pods run there. After publication, they will belong to no queue. 4 pods are pending there." in said
    del figures["root.tenant-1.queue-b"]  # another tree is in force than the draft's base
    demo.status.save()
    said = shown(ada, page(draft, f"?queue={row(draft, 'tenant-1').pk}&act=delete"))
    assert "Deletes tenant-1 and 2 queues below it." in said
    assert not re.search("pods? runs? there|(is|are) pending there", said)


def test_queries_do_not_grow_with_queues(ada: Client, draft: Draft) -> None:
    """Neither of the page nor of an act."""

    def counts(name: str) -> tuple[int, int]:
        form = {
            "row": row(draft, "queue-b").pk,
            "max/cpu": name,
            "was:max/cpu": row(draft, "queue-b").settings["max/cpu"],
        }
        with CaptureQueriesContext(connection) as of_page:
            ada.get(page(draft))
        with CaptureQueriesContext(connection) as of_act:
            send(ada, draft, "edit", form, script=True)
        return len(of_page), len(of_act)

    ada.get(page(draft))  # what was read then is not read again
    send(ada, draft, "add", {"row": row(draft, "tenant-1").pk, "name": "one"})
    few = counts("301")
    for number in range(20):
        send(ada, draft, "add", {"row": row(draft, "tenant-1").pk, "name": f"more-{number}"})
    assert counts("302") == few


def test_the_queue_page_leads_to_the_revisions(ada: Client, demo: Cluster) -> None:
    """Each in its list."""
    html = ada.get("/clusters/demo/queues/root.tenant-1.queue-b/").content.decode()
    assert 'href="/clusters/demo/revisions/1/"' in html


def test_news_are_asked_for_by_version(ada: Client, draft: Draft) -> None:
    """304 while nothing is new; else only that there is something, which is then asked for."""
    tag = ada.get(page(draft, "news/"))["ETag"]
    assert ada.get(page(draft, "news/"), headers={"if-none-match": tag}).status_code == 304
    edited(draft, "queue-b", "delay", "1m")
    response = ada.get(page(draft, "news/"), headers={"if-none-match": tag})
    assert (response.status_code, response.json()) == (200, {"version": 2})


def digests(answer: dict[str, Any]) -> str:
    """What a page shows that has put in an answer with every row."""
    marks = {pk: html.split('data-digest="')[1].partition('"')[0] for pk, html in answer["rows"].items()}
    return " ".join(f"{pk}.{marks[str(pk)]}" for pk in answer["order"])


def test_an_answer_holds_only_the_rows_that_look_different(ada: Client, draft: Draft) -> None:
    """The edited one alone; every one where nothing is said to be there, and none where all are."""
    whole = send(ada, draft, "news", {}, script=True).json()
    assert len(whole["rows"]) == 9
    form = {"shown": digests(whole), "row": row(draft, "queue-b").pk, "max/cpu": "300", "was:max/cpu": "320"}
    answer = send(ada, draft, "edit", form, script=True).json()
    assert list(answer["rows"]) == [str(row(draft, "queue-b").pk)]
    assert answer["order"] is None
    assert answer["version"] == 2
    again = send(ada, draft, "news", {"shown": digests(send(ada, draft, "news", {}, script=True).json())}, script=True)
    assert again.json()["rows"] == {}


def test_the_rows_alone_are_answered_first_with_all_that_is_wrong_in_them(ada: Client, draft: Draft) -> None:
    """What only the tree as a whole makes wrong too; the rest then holds no row again."""
    whole = send(ada, draft, "news", {}, script=True).json()
    queue = row(draft, "queue-b")
    typed = {"row": queue.pk, "guaranteed/cpu": "9000", "was:guaranteed/cpu": queue.settings.get("guaranteed/cpu", "")}
    first = send(ada, draft, "edit", typed | {"shown": digests(whole), "only": "rows"}, script=True).json()
    assert "The guarantee of 9000 cpu is above the max of" in texts(first["rows"][str(queue.pk)])
    assert first.keys() == {"version", "rows", "order", "focus"}
    shown = digests({"rows": whole["rows"] | first["rows"], "order": whole["order"]})
    rest = send(ada, draft, "news", {"shown": shown}, script=True).json()
    assert (rest["rows"], rest["version"]) == ({}, first["version"])
    assert "1 error" in texts(rest["parts"]["checks"])


def test_a_form_is_answered_alone(ada: Client, draft: Draft) -> None:
    """Nothing else is worked out before it stands there."""
    queue = row(draft, "tenant-2")
    whole = send(ada, draft, "news", {}, script=True).json()
    had = {"shown": digests(whole), "only": "rows"}
    answer = send(ada, draft, "news", had, script=True, query=f"?queue={queue.pk}&act=move").json()
    assert answer.keys() == {"version", "rows", "order", "focus"}
    assert list(answer["rows"]) == [str(queue.pk)]
    assert f'<option value="{queue.parent_id}" selected>root</option>' in answer["rows"][str(queue.pk)]
    assert "root.tenant-2" not in answer["rows"][str(queue.pk)]


def test_what_deleting_says_follows_what_others_do(ada: Client, draft: Draft) -> None:
    """A queue that somebody adds below is counted, though the row itself looks as before."""
    queue = row(draft, "tenant-2")
    query = f"?queue={queue.pk}&act=delete"
    whole = send(ada, draft, "news", {}, script=True, query=query).json()
    assert "Deletes tenant-2 and 2 queues below it." in texts(whole["rows"][str(queue.pk)])
    send(ada, draft, "add", {"row": queue.pk, "name": "adhoc"})
    answer = send(ada, draft, "news", {"shown": digests(whole)}, script=True, query=query).json()
    assert "Deletes tenant-2 and 3 queues below it." in texts(answer["rows"][str(queue.pk)])


def test_the_forecast_comes_after_the_page(ada: Client, draft: Draft) -> None:
    """As parts of it; without a snapshot it says so."""
    assert "Calculating the forecast" in shown(ada, page(draft))
    parts = ada.get(page(draft, "forecast/")).json()["parts"]
    assert "The cluster has not been read yet" in texts(parts["forecast"])
    assert "The cluster has not been read yet" in shown(ada, page(draft, "?forecast=1"))


@pytest.mark.parametrize("query", ["?queue=x", "?queue=99999999999999999999999", "?act=nonsense&queue=1", "?resource="])
def test_a_strange_address_is_the_plain_page(ada: Client, draft: Draft, query: str) -> None:
    """Words that are unknown count as not said."""
    assert ada.get(page(draft, query)).status_code == 200


def test_the_page_asks_nothing_of_others_drafts_queues(
    ada: Client, draft: Draft, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    """Session, user, cluster, draft, queues, others’ drafts, clusters of the tree and their copies, acts, the site."""
    with django_assert_max_num_queries(11):
        ada.get(page(draft))
