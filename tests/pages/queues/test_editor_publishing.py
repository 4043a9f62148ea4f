"""A draft becomes a revision only as it was read; what was published meanwhile is merged; and there is a way back."""

import json
import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from engine.formats.tree_json.canonical import encode_tree
from engine.formats.yunikorn import read
from engine.model.queue_tree import QueueTree
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.site import change_site
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft, Revision
from scheduler_admin.queues.services.hierarchies import publish, roll_back, tree_of
from tests.builders import ask, node, pod, rewrite
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.pages.markup import squeezed
from tests.pages.queues.drafts import edited, page, publish_another, row, send, started, texts
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(ada: Client, demo: Cluster) -> Draft:
    """Ada's, nothing changed yet."""
    return started(demo)


def refused(ada: Client, draft: Draft, says: str, status: int, **form: object) -> str:
    """Publish, and be led back to the page with a sentence and the reason still there."""
    draft.refresh_from_db()
    given = {"version": draft.version, "reason": "room for the release", **form}
    response = send(ada, draft, "publish", given)
    assert response.status_code == status
    html = response.content.decode()
    assert says in texts(html)
    assert Revision.objects.filter(reason="room for the release").count() == 0
    return html


def test_publishing_leads_to_the_revision(ada: Client, draft: Draft) -> None:
    """In force, with who and why; the draft has ended."""
    edited(draft, "queue-b", "guaranteed/nvidia.com/gpu", "6")
    response = send(ada, draft, "publish", {"version": 2, "reason": "room for the release"})
    assert response["Location"] == "/clusters/demo/revisions/2/"
    said = texts(ada.get(response["Location"]).content.decode())
    for part in (
        "Revision 2 is published.",
        "by ada",
        "room for the release",
        "queue-b : guaranteed nvidia.com/gpu 8 → 6",
    ):
        assert part in said
    assert not Draft.objects.exists()


def test_what_keeps_it_back_is_said_on_its_page(ada: Client, demo: Cluster, draft: Draft) -> None:
    """Nothing changed, no reason, an error, a change since it was read, another revision: each in a sentence."""
    refused(ada, draft, "This draft has no changes yet.", 422)
    edited(draft, "queue-b", "delay", "1m")
    html = refused(ada, draft, "The draft has changed since you opened it.", 412, version=1)
    assert "room for the release</textarea>" in html
    response = send(ada, draft, "publish", {"version": 2, "reason": " "})
    assert (response.status_code, Revision.objects.count()) == (422, 1)
    edited(draft, "queue-b", "max/cpu", "many")
    refused(ada, draft, "many is not a valid amount.", 422)
    edited(draft, "queue-b", "max/cpu", "100")
    refused(ada, draft, "The guarantee of 160 cpu is above the max of root.tenant-1.queue-b, 100", 422)
    publish_another(demo, "root.queue-a", guaranteed={"cpu": 1000})
    refused(ada, draft, "Another revision was published in the meantime.", 412)


def test_what_was_published_meanwhile_is_named_and_merged(ada: Client, demo: Cluster, draft: Draft) -> None:
    """Who and why; after the merge the draft has both."""
    edited(draft, "queue-b", "max/cpu", "300")
    publish_another(demo, "root.queue-a", guaranteed={"cpu": 100_000})
    said = texts(ada.get(page(draft)).content.decode())
    assert "system published revision 2" in said
    assert "more for them" in said
    send(ada, draft, "merge", {})
    draft.refresh_from_db()
    assert draft.base.number == 2
    assert (row(draft, "queue-b").settings["max/cpu"], row(draft, "queue-a").settings["guaranteed/cpu"]) == (
        "300",
        "100",
    )
    assert "published revision 2" not in texts(ada.get(page(draft)).content.decode())


@pytest.mark.parametrize(("side", "want"), [("theirs", "100"), ("mine", "120")])
def test_what_both_changed_is_chosen(ada: Client, demo: Cluster, draft: Draft, side: str, want: str) -> None:
    """Base, theirs and mine side by side; publishing waits for the choice."""
    edited(draft, "queue-a", "guaranteed/cpu", "120")
    publish_another(demo, "root.queue-a", guaranteed={"cpu": 100_000})
    send(ada, draft, "merge", {})
    said = texts(ada.get(page(draft)).content.decode())
    assert "root.queue-a, guaranteed cpu 160 100 120" in said
    assert "Resolve 1 conflict first." in said
    refused(ada, draft, "Resolve the conflicts first.", 422)
    send(ada, draft, "choose", {"queue": "root.queue-a", "setting": "guaranteed/cpu", "side": side})
    assert row(draft, "queue-a").settings["guaranteed/cpu"] == want
    assert "conflict" not in texts(ada.get(page(draft)).content.decode())


def test_rolling_back_restores_the_bytes(ada: Client, demo: Cluster, draft: Draft) -> None:
    """After saying what it changes; the roll back is a revision of its own, which can be rolled back too."""
    first = Revision.objects.get(number=1)
    edited(draft, "queue-b", "max/cpu", "300")
    send(ada, draft, "publish", {"version": 2, "reason": "less"})
    second = Revision.objects.get(number=2)
    html = ada.get("/clusters/demo/revisions/1/").content.decode()
    assert "root.tenant-1.queue-b : max cpu 300 → 320" in texts(html)
    assert f'name="onto" value="{second.pk}"' in html
    response = ada.post("/clusters/demo/revisions/1/back/", {"onto": second.pk, "reason": "it was too little"})
    assert response["Location"] == "/clusters/demo/revisions/3/"
    third = Revision.objects.get(number=3)
    assert third.document == first.document
    ada.post("/clusters/demo/revisions/2/back/", {"onto": third.pk, "reason": "no, it was right"})
    assert Revision.objects.get(number=4).document == second.document


def test_rolling_back_onto_another_revision_than_was_seen_is_refused(ada: Client, demo: Cluster) -> None:
    """With the reason still there; a missing reason is said as well."""
    seen = publish_another(demo, "root.queue-a", guaranteed={"cpu": 100_000})
    publish_another(demo, "root.queue-a", guaranteed={"cpu": 90_000})
    response = ada.post("/clusters/demo/revisions/1/back/", {"onto": seen.pk, "reason": "as it was"})
    assert response.status_code == 412
    assert "as it was</textarea>" in response.content.decode()
    current = Revision.objects.get(number=3)
    assert ada.post("/clusters/demo/revisions/1/back/", {"onto": current.pk, "reason": " "}).status_code == 422
    for onto in ("x", "9" * 5000):
        assert ada.post("/clusters/demo/revisions/1/back/", {"onto": onto, "reason": "y"}).status_code == 404
    assert Revision.objects.count() == 3


def test_only_admins_roll_back(otto: Client, tess: Client, demo: Cluster) -> None:
    """Operators see no form for it; tenants no revision."""
    current = publish_another(demo, "root.queue-a", guaranteed={"cpu": 100_000})
    assert "Roll back" not in otto.get("/clusters/demo/revisions/1/").content.decode()
    for client, status in ((otto, 403), (tess, 404)):
        form = {"onto": current.pk, "reason": "why"}
        assert client.post("/clusters/demo/revisions/1/back/", form).status_code == status
    for rest in ("", "tree.json", "queues.yaml", "forecast/"):
        assert otto.get(f"/clusters/demo/revisions/1/{rest}").status_code == 200
        assert tess.get(f"/clusters/demo/revisions/1/{rest}").status_code == 404


def test_revisions_are_listed_and_compared(ada: Client, demo: Cluster) -> None:
    """Newest first, with what each changed; any with any other."""
    publish_another(demo, "root.queue-a", guaranteed={"cpu": 100_000})
    publish_another(demo, "root.system", max={"cpu": 200_000})
    said = texts(ada.get("/clusters/demo/revisions/").content.decode())
    assert said.index("more for them") < said.index("first tree")
    assert "1 current more for them" in said
    against = texts(ada.get("/clusters/demo/revisions/3/?against=1").content.decode())
    assert "root.queue-a : guaranteed cpu 160 → 100" in against
    assert "root.system : max cpu 192 → 200" in against
    assert ada.get("/clusters/demo/revisions/3/?against=9").status_code == 404
    assert ada.get("/clusters/demo/revisions/9/").status_code == 404


def test_a_revision_shows_its_digest_and_which_one_it_follows_on(ada: Client, demo: Cluster) -> None:
    """Whole on its page, in short in the list."""
    second = publish_another(demo, "root.queue-a", guaranteed={"cpu": 100_000})
    html = ada.get("/clusters/demo/revisions/2/").content.decode()
    assert f"<code>{second.digest}</code>" in html
    assert 'follows revision <a href="/clusters/demo/revisions/1/">1</a>' in html
    assert "follows revision" not in ada.get("/clusters/demo/revisions/1/").content.decode()
    assert f"<code>{second.digest[:12]}</code>" in ada.get("/clusters/demo/revisions/").content.decode()


def test_a_long_list_goes_on_from_page_to_page(ada: Client, demo: Cluster) -> None:
    """Every revision is on one of them."""
    for number in range(40):
        publish_another(demo, "root.queue-a", guaranteed={"cpu": 100_000 + number})
    first = ada.get("/clusters/demo/revisions/").content.decode()
    assert '"?before=12"' in first
    second = ada.get("/clusters/demo/revisions/?before=12").content.decode()
    assert 'href="/clusters/demo/revisions/11/"' in second
    assert 'href="/clusters/demo/revisions/1/"' in second
    assert "Older" not in second


def test_a_tree_is_downloaded_as_it_is_kept(ada: Client, demo: Cluster) -> None:
    """Canonical JSON to the byte, and a queues.yaml that reads back as the same tree."""
    revision = Revision.objects.get()
    assert ada.get("/clusters/demo/revisions/1/tree.json").content.decode() == revision.document
    json.loads(revision.document)
    text = ada.get("/clusters/demo/revisions/1/queues.yaml").content.decode()
    assert encode_tree(read(text).tree) == encode_tree(tree_of(revision))


@pytest.mark.parametrize(
    ("mode", "button", "says"),
    [
        ("enforce", "Publish and evict 1 pod", "This change evicts 1 additional pod"),
        ("observe", "Publish", "In Enforce mode, this change would evict 1 pod"),
    ],
)
def test_the_button_says_what_publishing_does(ada: Client, mode: str, button: str, says: str) -> None:
    """In numbers, of what only the change causes; where nothing is carried out, what would be."""
    cluster = rows.cluster(mode=mode)
    running = [pod(f"embed-{n}", queue="root.tenant-1.queue-b", node="n1", cpu=100) for n in range(2)]
    asking = ask("train", queue="root.tenant-1.training", cpu=100)
    draft = started(cluster)
    edited(draft, "queue-b", "guaranteed/cpu", "100")
    row(draft, "queue-b")
    Cluster.objects.update(mode="observe")
    run(cluster, Watch(node("n1", 200), running, asking))
    Cluster.objects.update(mode=mode)
    parts = ada.get(page(draft, "forecast/")).json()["parts"]
    assert f">{button}</button>" in squeezed(parts["publish"])
    assert says in texts(parts["publish"])
    assert "queue-b" in texts(parts["forecast"])
    assert "With the current tree, no pods would be preempted." in texts(parts["forecast"])


def test_other_clusters_that_a_tree_comes_into_force_in_are_named(ada: Client, demo: Cluster, draft: Draft) -> None:
    """The numbers are of one alone."""
    Cluster.objects.create(name="prod-us", hierarchy=demo.hierarchy)
    edited(draft, "queue-b", "delay", "1m")
    assert "Publishing also changes prod-us." in texts(ada.get(page(draft)).content.decode())


class TestRestoring:
    """A deleted queue comes back from the page of a revision that has it."""

    BACK = "/clusters/demo/revisions/1/restore/"

    @pytest.fixture
    def gone(self, demo: Cluster) -> Revision:
        """Somebody published the tree without tenant-1."""
        assert demo.hierarchy is not None
        assert demo.hierarchy.current is not None
        queues = tree_of(demo.hierarchy.current).queues.values()
        rest = QueueTree(one for one in queues if not one.path.startswith("root.tenant-1"))
        return publish(hierarchy=demo.hierarchy, tree=rest, author=None, reason="tenant-1 has left")

    def test_a_button_beside_it_opens_a_draft(self, ada: Client, gone: Revision) -> None:
        """One for the subtree: what is below comes along."""
        html = ada.get("/clusters/demo/revisions/1/").content.decode()
        assert re.findall(r'<button form="restore" name="path" value="([^"]*)"', html) == ["root.tenant-1"]
        answer = ada.post(self.BACK, {"path": "root.tenant-1"})
        made = Draft.objects.get()
        assert answer["Location"] == page(made)
        assert "root.tenant-1.queue-b added" in texts(ada.get(page(made)).content.decode())

    def test_none_beside_what_is_there(self, ada: Client, gone: Revision) -> None:
        assert 'id="restore"' not in ada.get("/clusters/demo/revisions/2/").content.decode()

    def test_what_came_back_meanwhile_is_said_on_the_page(self, ada: Client, gone: Revision) -> None:
        roll_back(to=Revision.objects.get(number=1), author=None, reason="they are back")
        answer = ada.post(self.BACK, {"path": "root.tenant-1"})
        assert answer.status_code == 422
        assert "Queue root.tenant-1 already exists." in texts(answer.content.decode())
        assert not Draft.objects.exists()

    def test_only_who_edits_restores(self, otto: Client, tess: Client, gone: Revision) -> None:
        """The others see no button, and tenants not even the page."""
        assert 'id="restore"' not in otto.get("/clusters/demo/revisions/1/").content.decode()
        assert [one.post(self.BACK, {"path": "root.tenant-1"}).status_code for one in (otto, tess)] == [403, 404]
        assert not Draft.objects.exists()


class TestASecondPerson:
    """Where the site wants one, somebody else approves the draft on its page before its author publishes it."""

    @pytest.fixture(autouse=True)
    def _wanted(self, draft: Draft) -> None:
        change_site(second_for_admins=True, reason="four eyes")
        edited(draft, "queue-b", "guaranteed/nvidia.com/gpu", "6")

    def test_is_asked_for(self, ada: Client, draft: Draft) -> None:
        said = texts(ada.get(page(draft)).content.decode())
        assert "A second person must approve this version before you can publish it." in said
        refused(ada, draft, "A second person must approve this in a draft first.", 422)

    def test_approves_it_and_then_it_is_published(self, ada: Client, draft: Draft) -> None:
        draft.refresh_from_db()
        rae = client_of(rows.user("rae", User.Role.ADMIN))
        assert send(rae, draft, "approve", {"version": draft.version}).status_code == 302
        assert "rae approved the current version." in texts(ada.get(page(draft)).content.decode())
        assert send(ada, draft, "publish", {"version": draft.version, "reason": "why"}).url.endswith("/revisions/2/")

    def test_approves_only_what_was_read(self, ada: Client, draft: Draft) -> None:
        response = send(ada, draft, "approve", {"version": 1})
        assert response.status_code == 412
        draft.refresh_from_db()
        assert not draft.approved


class TestAsOf:
    """An old decision is read with the tree of its time."""

    def test_the_list_leads_to_the_revision_that_was_in_force(self, ada: Client, demo: Cluster) -> None:
        first = Revision.objects.get()
        rewrite(Revision.objects.filter(pk=first.pk), published_at=datetime(2026, 1, 1, tzinfo=UTC))
        publish_another(demo, "root.tenant-1", guaranteed={"cpu": 1000})
        address = "/clusters/demo/revisions/?at="
        assert ada.get(f"{address}2026-01-02T00:00:00Z")["Location"].endswith("/revisions/1/")
        assert ada.get(f"{address}2026-01-02 00:00")["Location"].endswith("/revisions/1/")
        assert ada.get(f"{address}2999-01-01T00:00:00Z")["Location"].endswith("/revisions/2/")

    @pytest.mark.parametrize(
        ("at", "says"),
        [("2001-01-01T00:00:00Z", "There was no revision at that time."), ("noon", "noon is not a valid time")],
    )
    def test_and_says_where_there_is_none(self, ada: Client, demo: Cluster, at: str, says: str) -> None:
        assert says in texts(ada.get(f"/clusters/demo/revisions/?at={at}").content.decode())
