"""Hierarchies, the tree in force, and who put which one in force."""

from pathlib import Path

import pytest
from rest_framework.test import APIClient

from engine.formats.tree_json.document import read_form
from engine.formats.yunikorn import read
from engine.model.queue_tree import QueueTree
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.queues.services.hierarchies import create_hierarchy, tree_of
from tests.api.builders import BLUE, RED
from tests.api.sending import NEW, PROD, YAML, own_form, put, queue_of

MAIN = "/api/v1/hierarchies/prod-tree"


def in_force() -> QueueTree:
    """The tree that the engine reads."""
    revision = Hierarchy.objects.get(name="prod-tree").current
    assert revision is not None
    return tree_of(revision)


def test_a_hierarchy_says_what_is_in_force_and_where(olga: APIClient, cluster: Cluster) -> None:
    """Its revision with the policy, and the clusters that use it."""
    body = olga.get(MAIN).json()
    assert body["revision"] | {"published_at": None} == {
        "number": 1,
        "policy": "fence",
        "dialect": "design",
        "published_at": None,
    }
    assert (body["name"], body["clusters"]) == ("prod-tree", ["prod"])
    assert olga.get("/api/v1/hierarchies").json() == {"results": [body]}


def test_a_hierarchy_without_a_tree_says_so(olga: APIClient, db: None) -> None:
    """There is a hierarchy, and no tree to read."""
    create_hierarchy(name="new", actor=None)
    assert olga.get("/api/v1/hierarchies/new").json() == {"name": "new", "revision": None, "clusters": []}
    assert olga.get(NEW).status_code == 404


def test_the_tree_reads_back_in_both_forms(olga: APIClient, cluster: Cluster) -> None:
    """What is sent is the very tree that the engine decides by."""
    form = read_form(own_form(olga))
    yaml = olga.get(PROD, HTTP_ACCEPT="application/yaml")
    assert form.tree is not None
    assert (form.tree.queues, form.policy, form.dialect, form.parameters) == (in_force().queues, "fence", "design", {})
    assert yaml["Content-Type"] == "application/yaml"
    assert read(yaml.content.decode()).tree.queues == in_force().queues


def test_a_native_document_keeps_what_is_not_ours(ada: APIClient, db: None) -> None:
    """Comments and settings without meaning here come back, with changes that were made in our own form merged in."""
    put(ada, YAML, NEW)
    form = own_form(ada, NEW)
    queue_of(form, "root.a")["max"] = {"cpu": "4"}
    put(ada, form, NEW, match="*")
    text = ada.get(NEW, HTTP_ACCEPT="application/yaml").content.decode()
    assert "# the first" in text
    assert "submitacl: everyone" in text
    assert read(text).tree["root.a"].max == {"cpu": 4000}


def test_a_native_document_that_still_holds_comes_back_as_it_was_typed(ada: APIClient, db: None) -> None:
    """Order of queues, quotes and comments included: in a repository it makes no difference."""
    text = (Path(__file__).resolve().parents[3] / "demo" / "queues.yaml").read_text(encoding="utf-8")
    put(ada, text, NEW)
    assert ada.get(NEW, HTTP_ACCEPT="application/yaml").content.decode() == text


def test_the_etag_is_the_trees(olga: APIClient, ada: APIClient, cluster: Cluster) -> None:
    """The same for all who see all, and in both forms; strong, kept while the tree is the same; unchanged, not sent."""
    first = olga.get(PROD)
    tag = first["ETag"]
    assert tag.startswith('"')
    assert ada.get(PROD, HTTP_ACCEPT="application/yaml")["ETag"] == tag
    again = olga.get(PROD, HTTP_IF_NONE_MATCH=f'"other", {tag}')
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)
    form = own_form(ada)
    queue_of(form, RED)["delay"] = "6s"
    changed = put(ada, form, match=tag)
    assert changed["ETag"] != tag
    assert olga.get(PROD, HTTP_IF_NONE_MATCH=tag).status_code == 200
    assert put(ada, first.json(), match=changed["ETag"])["ETag"] == tag


def test_what_a_tenant_may_not_see_is_not_in_its_etag(alice: APIClient, ada: APIClient, cluster: Cluster) -> None:
    """Neither what it is, to be tried out until the same tag comes out, nor that it changed."""
    tag, form = alice.get(PROD)["ETag"], own_form(ada)
    queue_of(form, BLUE)["guaranteed"] = {"cpu": "3"}
    assert put(ada, form, match="*").status_code == 200
    assert alice.get(PROD)["ETag"] == tag
    queue_of(form, RED)["delay"] = "6s"
    assert put(ada, form, match="*").status_code == 200
    assert alice.get(PROD)["ETag"] != tag


def test_tenants_read_their_own_queues_of_a_tree(alice: APIClient, olga: APIClient, cluster: Cluster) -> None:
    """And no namespace or queue of others; a native document would show everything."""
    assert [queue["path"] for queue in own_form(alice)["queues"]] == ["root.red", RED]
    assert queue_of(own_form(alice), RED) == queue_of(own_form(olga), RED)
    refused = alice.get(PROD, HTTP_ACCEPT="application/yaml")
    assert (refused.status_code, refused["Content-Type"]) == (406, "application/problem+json")
    assert "canary" not in refused.content.decode()


def test_revisions_tell_who_when_and_why(olga: APIClient, ada: APIClient, cluster: Cluster) -> None:
    """Newest first, page by page, and each with its tree."""
    for delay in ("6s", "7s"):
        form = own_form(ada)
        queue_of(form, RED)["delay"] = delay
        put(ada, form, match="*", reason=f"wait {delay}")
    page = olga.get(f"{MAIN}/revisions?limit=2").json()
    told = [(row["number"], row["published_by"], row["reason"]) for row in page["results"]]
    assert told == [(3, "ada", "wait 7s"), (2, "ada", "wait 6s")]
    assert page["results"][0]["published_at"] == "2026-01-05T12:00:00Z"
    rest = olga.get(page["next"]).json()
    assert ([row["number"] for row in rest["results"]], rest["next"]) == ([1], None)
    digests = dict(Revision.objects.values_list("number", "digest"))
    chain = [(row["number"], row["parent"], row["digest"]) for row in (*page["results"], *rest["results"])]
    assert chain == [(3, 2, digests[3]), (2, 1, digests[2]), (1, None, digests[1])]
    second = olga.get(f"{MAIN}/revisions/2").json()
    assert (second["hierarchy"], second["revision"]) == ("prod-tree", page["results"][1])
    assert queue_of(second["tree"], RED)["delay"] == "6s"


def test_a_former_revision_is_put_back_as_it_was(ada: APIClient, cluster: Cluster) -> None:
    """Its tree is taken as it is: rolled back to the byte, as a revision of its own."""
    before = Revision.objects.get(number=1).document
    form = own_form(ada)
    queue_of(form, RED)["delay"] = "6s"
    put(ada, form, match="*")
    put(ada, ada.get(f"{MAIN}/revisions/1").json()["tree"], match="*")
    assert Revision.objects.get(number=3).document == before


@pytest.mark.parametrize("path", ["revisions/9", "revisions/0", "revisions/99999999999999999999"])
def test_what_is_not_there_is_not_found(olga: APIClient, cluster: Cluster, path: str) -> None:
    """Numbers that no revision has, or could have."""
    assert olga.get(f"{MAIN}/{path}").status_code == 404


@pytest.mark.parametrize("query", ["cursor=0", "cursor=x", "cursor=99999999999", "limit=0", "before=1"])
def test_pages_that_cannot_be_are_errors(olga: APIClient, cluster: Cluster, query: str) -> None:
    """As everywhere, no parameter is ignored."""
    assert olga.get(f"{MAIN}/revisions?{query}").status_code == 400
