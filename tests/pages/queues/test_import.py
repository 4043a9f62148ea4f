"""A document becomes a draft, or the first revision, only after it was shown what becomes what."""

import re
from typing import Any

import pytest
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from engine.formats.registry import LARGEST
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft, Hierarchy, Revision
from scheduler_admin.queues.services.hierarchies import native_of, tree_of
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.pages.queues.drafts import page, send, texts

pytestmark = pytest.mark.django_db
PAGE = "/clusters/demo/import/"
KUEUE = """\
# who owns this
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: research}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  cohortName: research
  preemption: {withinClusterQueue: LowerPriority}
  flavorFungibility: {whenCanBorrow: TryNextFlavor}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: default
      resources: [{name: cpu, nominalQuota: 9, borrowingLimit: 3}]
"""
YUNIKORN = """\
partitions:
  - name: default
    nodesortpolicy: {type: binpacking}
    queues:
      - name: root
        queues:
          - name: batch  # at night
            resources: {guaranteed: {vcore: 12}}
"""


@pytest.fixture
def bare(demo: Cluster) -> Cluster:
    """The cluster with a hierarchy in which nothing is published yet."""
    demo.hierarchy = Hierarchy.objects.create(name="bare")
    demo.save()
    return demo


def look(client: Client, text: str, status: int = 200, **form: Any) -> str:
    """Paste a document; the page that shows what becomes of it."""
    response = client.post(PAGE, {"text": text, "act": "look", **form}, follow=True)
    assert response.status_code == status
    return response.content.decode()


def take_over(client: Client, text: str, act: str, **form: str) -> Any:
    """Look at a document, and press a button below what it becomes."""
    match = re.search(r'name="seen" value="(\w+)"', look(client, text))
    return client.post(PAGE, {"text": text, "act": act, "seen": match[1] if match else "", **form})


def pasted(html: str) -> str:
    """What stands in the form's text."""
    match = re.search(r'name="text"[^>]*>\n(.*?)</textarea>', html, re.DOTALL)
    assert match
    return match[1].replace("&#x27;", "'").replace("&quot;", '"').replace("&lt;", "<").replace("&amp;", "&")


def test_what_becomes_what_is_shown_before_anything_is_kept(ada: Client, demo: Cluster) -> None:
    """Queue by queue with settings and lines, what is kept, and the difference to what is in force, in words."""
    said = texts(look(ada, KUEUE))
    for part in (
        "read as Kueue objects",
        "Cohort research 4 root.research preemption policy fence",
        "ClusterQueue vision 8 root.research.vision guaranteed cpu 9; max cpu 12",
        "12 kept flavorFungibility has no counterpart here. It is kept and written back unchanged.",
        "root.research added: parent true, preemption policy fence",
        "root.tenant-1.queue-b removed",
    ):
        assert part in said, part
    assert (Draft.objects.count(), Revision.objects.count()) == (0, 1)


def test_a_draft_of_it_takes_the_document_along(ada: Client, demo: Cluster) -> None:
    """On top of the revision in force; published, the document is the revision's, to the byte."""
    response = take_over(ada, KUEUE.replace("\n", "\r\n"), "draft", name="From Kueue")
    draft = Draft.objects.get()
    assert response.url == page(draft)
    assert {row.name for row in draft.queues.all()} == {"root", "research", "vision"}
    assert "root.research.vision added: guaranteed cpu 9, max cpu 12" in texts(ada.get(page(draft)).content.decode())
    response = send(ada, draft, "publish", {"version": draft.version, "reason": "as Kueue has it"})
    assert response.status_code == 302
    revision = Revision.objects.get(number=2)
    assert native_of(revision) == ("kueue", KUEUE)
    assert tree_of(revision)["root.research.vision"].max == {"cpu": 12_000}


class TestAddress:
    """A preview has an address of its own: it can be loaded again, and left and come back to."""

    @staticmethod
    def sent(client: Client, text: str, **form: str) -> str:
        """Send a document; where its preview is."""
        response = client.post(PAGE, {"text": text, "act": "look", **form})
        assert response.status_code == 302
        return response["Location"]

    def test_the_preview_is_a_page_that_can_be_loaded_again(self, ada: Client, demo: Cluster) -> None:
        """With the document and the format that was chosen."""
        address = self.sent(ada, KUEUE, format="kueue")
        assert address.startswith(f"{PAGE}?preview=")
        for _time in range(2):
            html = ada.get(address).content.decode()
            assert "read as Kueue objects" in texts(html)
            assert pasted(html) == KUEUE
            assert '<option value="kueue" selected>' in html
        assert not Draft.objects.exists()

    def test_a_document_that_can_not_be_read_has_one_too(self, ada: Client, demo: Cluster) -> None:
        """It is mended where it stands."""
        html = ada.get(self.sent(ada, "hello")).content.decode()
        assert "The format of this document is not recognized." in texts(html)
        assert pasted(html) == "hello"

    def test_it_is_only_for_whoever_sent_it(self, ada: Client, demo: Cluster) -> None:
        """For anybody else it has expired, as it has after an hour."""
        address = self.sent(ada, KUEUE)
        other = client_of(rows.user("rae"))
        for client, where in ((other, address), (ada, f"{PAGE}?preview=nothing")):
            html = client.get(where).content.decode()
            assert "This preview has expired." in texts(html)
            assert pasted(html) == ""

    def test_a_long_document_is_named_instead_of_shown(self, ada: Client, demo: Cluster) -> None:
        """Its draft is made of what was kept; of another document that is sent along, that one is looked at."""
        text = KUEUE + "# a long comment\n" * 20_000
        html = ada.get(self.sent(ada, text)).content.decode()
        assert "too much to show it here" in texts(html)
        assert pasted(html) == ""
        hidden = {name: re.search(rf'name="{name}"[^>]* value="(\w+)"', html)[1] for name in ("kept", "seen")}  # type: ignore[index]
        other = ada.post(PAGE, {"text": "hello", "act": "draft", "name": "other", **hidden})
        assert pasted(other.content.decode()) == "hello"
        ada.post(PAGE, {"text": "", "act": "draft", "name": "long", **hidden})
        assert Draft.objects.get().source == text

    def test_a_long_document_that_is_no_longer_kept_has_to_be_sent_again(self, ada: Client, demo: Cluster) -> None:
        """As its preview has expired."""
        response = ada.post(PAGE, {"text": "", "act": "draft", "name": "long", "kept": "0" * 64, "seen": "0"})
        assert response.status_code == 422
        assert "This preview has expired." in texts(response.content.decode())

    def test_without_a_cache_the_preview_is_shown_at_once(
        self, ada: Client, demo: Cluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nobody is kept from importing."""

        def fail(*_args: Any) -> None:
            raise ConnectionError

        monkeypatch.setattr(caches["documents"], "set", fail)
        response = ada.post(PAGE, {"text": KUEUE, "act": "look"})
        assert response.status_code == 200
        assert "read as Kueue objects" in texts(response.content.decode())


def test_the_name_of_a_draft_is_required(ada: Client, demo: Cluster) -> None:
    """Marked so for browsers, unless the document is only previewed again; its error stands at its field."""
    html = look(ada, KUEUE)
    control = re.search(r'<input[^>]*name="name"[^>]*>', html)
    assert control is not None
    assert " required" in control[0]
    assert re.search(r'value="look"[^>]* formnovalidate', html)
    response = take_over(ada, KUEUE, "draft", name=" ")
    assert response.status_code == 422
    html = response.content.decode()
    control = re.search(r'<input[^>]*name="name"[^>]*>', html)
    assert control is not None
    described = re.search(r'aria-describedby="([^"]+)"', control[0])
    assert described is not None
    assert 'aria-invalid="true"' in control[0]
    assert f'id="{described[1]}" role="alert"' in html


def test_a_file_is_read_like_what_is_pasted(ada: Client, demo: Cluster) -> None:
    """And stands in the form then, so that nothing is lost."""
    file = SimpleUploadedFile("queues.yaml", b"\xef\xbb\xbf" + YUNIKORN.replace("\n", "\r\n").encode())
    html = ada.post(PAGE, {"file": file, "text": "forgotten", "act": "look"}, follow=True).content.decode()
    assert pasted(html) == YUNIKORN
    assert "batch 7 root.batch guaranteed cpu 12" in texts(html)


def test_where_nothing_is_in_force_it_becomes_the_first_revision(ada: Client, bare: Cluster) -> None:
    """With a reason, without which it stays in the form."""
    html = look(ada, YUNIKORN)
    assert "Publish as revision 1" in html
    assert "Create draft" not in html
    response = take_over(ada, YUNIKORN, "publish", reason=" ")
    assert response.status_code == 422
    assert "Enter a reason." in texts(response.content.decode())
    assert pasted(response.content.decode()) == YUNIKORN
    response = take_over(ada, YUNIKORN, "publish", reason="as it runs")
    assert response.url == "/clusters/demo/revisions/1/"
    revision = Revision.objects.get(hierarchy__name="bare")
    assert (revision.reason, native_of(revision)) == ("as it runs", ("yunikorn", YUNIKORN))


def test_somebody_who_published_first_is_not_overwritten(ada: Client, bare: Cluster) -> None:
    """The page says so, and offers a draft instead."""
    assert take_over(ada, YUNIKORN, "publish", reason="first").status_code == 302
    response = take_over(ada, KUEUE, "publish", reason="second")
    assert response.status_code == 412
    html = response.content.decode()
    assert "Someone else published a revision in the meantime." in texts(html)
    assert "Create draft" in html
    assert Revision.objects.filter(hierarchy__name="bare").count() == 1


def test_errors_are_shown_at_their_lines_with_the_text(ada: Client, demo: Cluster) -> None:
    """Nothing is lost, whatever button was pressed."""
    wrong = KUEUE.replace("nominalQuota: 9", "nominalQuota: 9Gb").replace("name: vision", "name: vision")
    for act, status in (("look", 200), ("draft", 422), ("publish", 422)):
        html = look(ada, wrong, status, act=act)
        assert "17 error 9Gb is not a valid amount. Did you mean 9Gi or 9G? resources: [{name: cpu" in texts(html)
        assert pasted(html) == wrong
    assert "unknown format" not in html
    assert not Draft.objects.exists()


def test_a_tree_that_contradicts_itself_is_no_first_revision(ada: Client, bare: Cluster) -> None:
    """Its errors stand at the lines of the queues."""
    text = YUNIKORN.replace("{guaranteed: {vcore: 12}}", "{guaranteed: {vcore: 12}, max: {vcore: 2}}")
    html = look(ada, text)
    assert "7 error root.batch: The guarantee of 12 cpu is above the max" in texts(html)
    assert "This document can’t be published." in texts(html)
    assert take_over(ada, text, "publish", reason="all the same").status_code == 422
    assert not Revision.objects.filter(hierarchy__name="bare").exists()


def test_what_is_in_force_already_is_said_so(ada: Client, demo: Cluster) -> None:
    """There is nothing to make a draft of."""
    text = ada.get("/clusters/demo/revisions/1/queues.yaml").content.decode()
    html = look(ada, text)
    assert "The document matches the current tree" in texts(html)
    assert "Create draft" not in html


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"text": ""}, "Paste a document or upload a file."),
        ({"text": "hello", "act": "draft"}, "The format of this document is not recognized."),
        ({"file": SimpleUploadedFile("a.yaml", b" " * (LARGEST + 1))}, "The document is longer than 16 MiB."),
        ({"file": SimpleUploadedFile("a.yaml", b"\xff\xfe")}, "The document is not valid UTF-8."),
        ({"text": KUEUE, "format": "yunikorn", "act": "draft"}, "A queues.yaml must begin with partitions."),
        ({"text": "partitions: [" + "[" * 200, "act": "draft"}, "Brackets are nested more than 100 levels deep."),
    ],
)
def test_what_can_not_be_looked_at_is_said(ada: Client, demo: Cluster, form: dict[str, Any], says: str) -> None:
    """In a sentence, by an answer that is no success."""
    response = ada.post(PAGE, {"act": "look", **form})
    assert response.status_code == 422
    assert says in texts(response.content.decode())


def test_only_those_who_change_the_whole_tree_import(
    otto: Client, audrey: Client, tess: Client, carl: Client, ada: Client, demo: Cluster
) -> None:
    """Others may not, and strangers see no such page."""
    assert ada.get(PAGE).status_code == 200
    for client, status in ((otto, 403), (audrey, 403), (tess, 404), (carl, 404)):
        for response in (client.get(PAGE), client.post(PAGE, {"text": KUEUE, "act": "draft", "name": "x"})):
            assert response.status_code == status
    assert not Draft.objects.exists()


def test_only_what_was_looked_at_is_taken_over(ada: Client, demo: Cluster) -> None:
    """What was typed since is shown first."""
    html = look(ada, KUEUE, 412, act="draft", name="x", seen="0")
    assert "The document has changed since the preview." in texts(html)
    assert not Draft.objects.exists()
    assert take_over(ada, KUEUE, "draft", name="x").status_code == 302


@pytest.mark.parametrize("there", [True, False])
def test_the_editor_leads_there(ada: Client, otto: Client, demo: Cluster, there: bool) -> None:
    """Whoever may import, also where there is nothing to edit yet."""
    if not there:
        demo.hierarchy = Hierarchy.objects.create(name="bare")
        demo.save()
    assert PAGE in ada.get("/clusters/demo/editor/").content.decode()
    assert PAGE not in otto.get("/clusters/demo/editor/").content.decode()
