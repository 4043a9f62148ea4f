"""The first tree of a hierarchy, and documents in YAML as a text in JSON, for clients that send no other media type."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy
from tests.api.sending import NEW, PROD, SMALL, YAML, errors, plan, revisions

TEXT = {"text": YAML}


def post(client: APIClient, body: Any, url: str = NEW, query: str = "reason=a+test") -> Any:
    """Send a first tree."""
    return client.post(f"{url}?{query}", body, format="json")


@pytest.mark.parametrize("body", [SMALL, TEXT])
def test_the_first_tree_makes_the_hierarchy(ada: APIClient, cluster: Cluster, body: Any) -> None:
    """The answer says where it is, and with which ETag."""
    made = post(ada, body)
    assert (made.status_code, made.json()["revision"]) == (201, 1)
    read = ada.get(made["Location"])
    assert (read.status_code, read["ETag"]) == (200, made["ETag"])
    assert [queue["path"] for queue in read.json()["queues"]] == ["root", "root.a"]


def test_a_tree_that_there_is_already_stays(ada: APIClient, cluster: Cluster) -> None:
    """Even where it is the same; the answer has its ETag."""
    for query in ("reason=a+test", "dry_run=true"):
        refused = post(ada, SMALL, PROD, query)
        assert (refused.status_code, refused["ETag"]) == (412, ada.get(PROD)["ETag"])
    assert revisions() == [1]


def test_a_dry_run_makes_nothing(ada: APIClient, cluster: Cluster) -> None:
    """It says what would be."""
    shown = post(ada, TEXT, query="dry_run=true")
    assert (shown.status_code, shown.json()["changed"]) == (200, True)
    assert not Hierarchy.objects.filter(name="new").exists()
    assert errors(post(ada, TEXT, query="")) == [{"parameter": "reason"}]


def test_a_text_is_read_as_the_document_itself(ada: APIClient, cluster: Cluster) -> None:
    """By its format, with the same lines."""
    of_yaml, of_text = plan(ada, YAML).json(), plan(ada, TEXT).json()
    assert of_text == of_yaml
    assert of_text["imported_document"]["format"] == "yunikorn"
    wrong = YAML.replace("vcore: 2", "vcore: few")
    assert errors(plan(ada, {"text": wrong})) == errors(plan(ada, wrong))


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({"text": 5}, {"/text"}),
        ({"text": ""}, {"/text"}),
        ({"text": None}, {"/text"}),
        ({"text": "a: b", "queues": []}, {"/queues"}),
    ],
)
def test_what_is_no_text_is_refused_at_its_place(ada: APIClient, cluster: Cluster, body: Any, places: set[str]) -> None:
    """And what stands beside one, too: the text would not be all of the tree."""
    refused = plan(ada, body)
    assert (refused.status_code, {error["pointer"] for error in errors(refused)}) == (422, places)
