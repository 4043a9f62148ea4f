"""Saved snapshots on their pages: saved, uploaded, tried under trees, taken along, and forgotten."""

from io import BytesIO
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.queues.models import Draft
from tests.builders import ask, node, pod
from tests.pages.queues.drafts import edited, started, texts
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
NODE = b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "8"}}}'


@pytest.fixture
def seen(demo: Cluster) -> Cluster:
    """A cluster in which queue-b asks for what training holds within its guarantee, and a pass has seen it."""
    cpu = {"cpu": 8, "resources": {}}
    training = [pod(f"train-{n}", queue="tenant-1.training", node="n1", namespace="vision", cpu=8) for n in range(2)]
    run(demo, Watch(node("n1", 16), training, ask("p", queue="tenant-1.queue-b", namespace="search", **cpu)))
    return demo


def list_page(client: Client, cluster: Cluster, **form: object) -> tuple[int, str]:
    response = client.post(f"/clusters/{cluster.name}/snapshots/", form, follow=True)
    return response.status_code, texts(response.content.decode())


def address(snapshot: SavedSnapshot, rest: str = "") -> str:
    return f"/clusters/demo/snapshots/{snapshot.pk}/{rest}"


def test_where_there_is_none_the_page_says_what_they_are_for(ada: Client, demo: Cluster) -> None:
    said = texts(ada.get("/clusters/demo/snapshots/").content.decode())
    assert "No snapshots yet." in said


def test_the_cluster_is_saved_as_it_was_last_seen(ada: Client, seen: Cluster) -> None:
    status, said = list_page(ada, seen, act="save", name="before the change")
    assert status == 200
    assert "before the change" in said
    assert "1 node, 3 pods" in said
    assert "saved by ada" in said


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"name": "x", "at": "yesterday"}, "yesterday is not a valid time"),
        ({"name": "x", "at": "2001-01-01T00:00:00Z"}, "The journal does not go back that far."),
        ({"name": "", "at": ""}, "This field is required."),
        ({"name": "x", "at": "2026-13-45"}, "is not a valid time"),
    ],
)
def test_what_can_not_be_saved_is_said_and_nothing_typed_is_lost(
    ada: Client, seen: Cluster, form: dict[str, str], says: str
) -> None:
    response = ada.post("/clusters/demo/snapshots/", {"act": "save", **form})
    html = response.content.decode()
    assert response.status_code == 422
    assert says in texts(html)
    assert "is not a valid time" in says or not form["at"] or f'value="{form["at"][:16]}"' in html
    assert not SavedSnapshot.objects.exists()


def test_a_file_is_uploaded_under_its_own_name(ada: Client, demo: Cluster) -> None:
    status, said = list_page(ada, demo, act="upload", name="", file=SimpleUploadedFile("theirs.json", NODE))
    assert status == 200
    assert "theirs.json" in said
    assert "uploaded by ada" in said


def test_a_file_that_is_none_is_turned_away(ada: Client, demo: Cluster) -> None:
    status, said = list_page(ada, demo, act="upload", name="", file=SimpleUploadedFile("a.yaml", b"kind: Node"))
    assert status == 422
    assert "neither a saved snapshot nor JSON" in said
    assert list_page(ada, demo, act="upload", name="")[0] == 422


def test_the_page_foretells_under_the_tree_it_was_saved_with_and_under_a_draft(ada: Client, seen: Cluster) -> None:
    list_page(ada, seen, act="save", name="here")
    saved = SavedSnapshot.objects.get()
    draft = started(seen, name="less for vision")
    edited(draft, "training", "guaranteed/cpu", "1")
    page = texts(ada.get(address(saved)).content.decode())
    assert "tree saved with the snapshot" in page
    assert "draft less for vision" in page
    own = ada.get(address(saved, "forecast/")).json()["parts"]["prospect"]
    other = ada.get(address(saved, f"forecast/?under=draft-{draft.pk}")).json()["parts"]["prospect"]
    assert "No pods would be preempted." in texts(own)
    assert "vision/ReplicaSet/train-0" in texts(other)


def test_a_draft_is_tried_by_the_policy_that_it_says(ada: Client, seen: Cluster) -> None:
    """By priority nobody here may be preempted, whatever is guaranteed."""
    list_page(ada, seen, act="save", name="here")
    saved, draft = SavedSnapshot.objects.get(), started(seen, name="by priority")
    edited(draft, "training", "guaranteed/cpu", "1")
    Draft.objects.update(policy="priority", dialect="kube-scheduler")
    other = ada.get(address(saved, f"forecast/?under=draft-{draft.pk}")).json()["parts"]["prospect"]
    assert "No pods would be preempted." in texts(other)


def test_without_a_script_the_forecast_is_on_the_page(ada: Client, seen: Cluster) -> None:
    list_page(ada, seen, act="save", name="here")
    said = texts(ada.get(address(SavedSnapshot.objects.get(), "?forecast=1")).content.decode())
    assert "Computing the forecast…" not in said
    assert "No pods would be preempted." in said


@pytest.mark.parametrize("query", ["", "?names=without"])
def test_it_is_downloaded_as_manifests_with_or_without_names(ada: Client, seen: Cluster, query: str) -> None:
    list_page(ada, seen, act="save", name="here")
    response = ada.get(address(SavedSnapshot.objects.get(), f"snapshot.zip{query}"))
    assert response["Cache-Control"] == "private, no-store"
    with ZipFile(BytesIO(response.content)) as file:
        assert {"manifests/cluster.json", "tree.json", "moment.json"} <= set(file.namelist())
        text = "".join(file.read(name).decode() for name in file.namelist())
    assert ("train-0" in text, "tenant-2" in text) == ((not query), (not query))


def test_it_is_held_against_several_policies(ada: Client, seen: Cluster) -> None:
    list_page(ada, seen, act="save", name="here")
    saved = SavedSnapshot.objects.get()
    form = ada.get(f"/clusters/demo/compare/?snapshot={saved.pk}").content.decode()
    assert f'<option value="{saved.pk}" selected>here</option>' in form
    sent = {"when": "snapshot", "snapshot": saved.pk, "tree-1": "current", "terms-1": ""}
    begun = ada.post("/clusters/demo/compare/", sent, follow=True)
    assert "snapshot here:" in texts(begun.content.decode())
    refused = ada.post("/clusters/demo/compare/", sent | {"snapshot": "999"})
    assert refused.status_code == 422
    assert "Choose a snapshot." in texts(refused.content.decode())


def test_an_operator_deletes_it_and_an_auditor_does_not(
    ada: Client, otto: Client, audrey: Client, seen: Cluster
) -> None:
    list_page(ada, seen, act="save", name="here")
    saved = SavedSnapshot.objects.get()
    assert audrey.post(address(saved, "delete/")).status_code == 403
    assert "Delete snapshot" not in audrey.get(address(saved)).content.decode()
    assert otto.post(address(saved, "delete/")).status_code == 302
    assert not SavedSnapshot.objects.exists()
