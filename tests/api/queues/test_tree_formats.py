"""Trees are sent and fetched in the documents of other systems, too."""

import pytest
from rest_framework.test import APIClient

from engine.formats import registry
from engine.formats.registry import Format
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.services.hierarchies import native_of, tree_of
from tests.api.sending import PROD, put
from tests.engine.test_kueue_objects import DOCUMENT as KUEUE
from tests.engine.test_kueue_objects import declared
from tests.engine.test_native import OWN

pytestmark = pytest.mark.django_db
YAML = {"HTTP_ACCEPT": "application/yaml"}


@pytest.mark.parametrize(("text", "form"), [(KUEUE, Format.KUEUE), (OWN, Format.SCHEDULER_ADMIN)])
def test_a_document_is_put_in_force_and_comes_back(ada: APIClient, cluster: Cluster, text: str, form: Format) -> None:
    """To the byte, whether its format is named or told by its words."""
    for query in ({}, {"format": form.value}):
        response = put(ada, text, match=ada.get(PROD).headers["ETag"], **query)
        assert response.status_code == 200, response.json()
    revision = Revision.objects.filter(hierarchy__name="prod-tree").first()
    assert revision is not None
    assert native_of(revision) == (form, text)
    assert ada.get(PROD, {"format": form}, **YAML).content.decode() == text
    assert ada.get(PROD, **YAML).content.decode() == text  # where none is asked for


def test_a_document_of_another_system_is_put_in_force_only_by_who_says_so(ada: APIClient, cluster: Cluster) -> None:
    """Else the cluster's own copy would no longer be compared with it; a plan warns of that."""
    assert put(ada, KUEUE, match=ada.get(PROD).headers["ETag"]).status_code == 200
    match = ada.get(PROD).headers["ETag"]
    yunikorn = ada.get(PROD, {"format": "yunikorn"}, **YAML).content.decode()
    planned = put(ada, yunikorn, dry_run="true").json()
    assert "no longer be compared" in " ".join(
        row["sentence"] for row in planned["findings"] if row["severity"] == "warning"
    )
    refused = put(ada, yunikorn, match=match)
    assert refused.status_code == 422
    assert "change_format" in refused.json()["errors"][0]["detail"]
    assert put(ada, yunikorn, match=match, change_format="true").status_code == 200


@pytest.mark.parametrize("form", Format)
def test_any_tree_is_fetched_in_any_format(ada: APIClient, cluster: Cluster, form: Format) -> None:
    """A queues.yaml where none is named."""
    text = ada.get(PROD, {"format": form.value}, **YAML).content.decode()
    current = Revision.objects.get(hierarchy__name="prod-tree")
    assert declared(registry.read(text, form).tree) == declared(tree_of(current))
    if form is Format.YUNIKORN:
        assert text == ada.get(PROD, **YAML).content.decode()


def test_a_former_revision_is_fetched_in_any_format(ada: APIClient, cluster: Cluster) -> None:
    """As it was: the document that it came from to the byte, or its tree in another one."""
    former = ada.get(PROD, **YAML).content.decode()
    for text in (KUEUE, OWN):
        assert put(ada, text, match="*", change_format="true").status_code == 200
    revisions = PROD.replace("/tree", "/revisions")
    assert ada.get(f"{revisions}/1", **YAML).content.decode() == former
    assert ada.get(f"{revisions}/2", {"format": "kueue"}, **YAML).content.decode() == KUEUE
    other = ada.get(f"{revisions}/2", {"format": "scheduler-admin"}, **YAML).content.decode()
    assert declared(registry.read(other, Format.SCHEDULER_ADMIN).tree) == declared(registry.read(KUEUE).tree)
    assert ada.get(f"{revisions}/2").json()["tree"]["queues"]


def test_what_is_wrong_is_told_with_its_line(ada: APIClient, cluster: Cluster) -> None:
    """Of every format alike; and of one that there is not."""
    match = ada.get(PROD).headers["ETag"]
    for text, line in ((KUEUE.replace("9000m", "9Gb"), 27), (OWN.replace("30s", "soon"), 7)):
        response = put(ada, text, match=match)
        assert (response.status_code, response.json()["errors"][0]["line"]) == (422, line)
    assert put(ada, "kind: [", match=match, format="kueue").status_code == 400
    assert put(ada, KUEUE, match=match, format="excel").status_code == 400
    refused = put(ada, OWN.replace("policy: fence", "policy: none"), match=match)
    assert refused.json()["errors"][0]["pointer"] == "/policy"
