"""What is still needed is not deleted: a cluster with our traces or a history, and the queue tree of a cluster."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft, Hierarchy, Revision
from tests.api import builders
from tests.api.builders import red_pod
from tests.api.conftest import client_of
from tests.api.queues.test_drafts import Editing

pytestmark = pytest.mark.django_db
PROD, TREE = "/api/v1/clusters/prod", "/api/v1/hierarchies/prod-tree"


@pytest.fixture
def root(cluster: Cluster) -> APIClient:
    """An admin whose token may do what is needed."""
    user = builders.user("root", role=User.Role.ADMIN)
    return client_of(user, scopes=["cluster:connect", "tree:write", "cluster:operate"])


def delete(client: APIClient, address: str, **query: str) -> Any:
    """DELETE of what was read just now."""
    headers = {"If-Match": client.get(address)["ETag"]}
    return client.delete(address, QUERY_STRING="&".join(f"{k}={v}" for k, v in query.items()), headers=headers)


def said(answer: Any) -> str:
    """What is wrong."""
    assert answer.status_code == 422, answer.content
    return str(answer.json()["errors"][0]["detail"])


def test_a_cluster_with_a_history_is_removed_only_with_it(root: APIClient, cluster: Cluster) -> None:
    """Its tree and the audit log stay."""
    builders.decision(cluster, ask=red_pod())
    assert "has a history (1 decisions)" in said(delete(root, PROD, reason="over"))
    assert delete(root, PROD, reason="over", with_history="true").status_code == 204
    assert (Cluster.objects.exists(), Hierarchy.objects.exists()) == (False, True)
    assert AuditEvent.objects.get(verb="cluster.remove").reason == "over"


def test_a_cluster_that_is_enforced_is_not_removed(root: APIClient, cluster: Cluster) -> None:
    """Pods may be on their way out."""
    Cluster.objects.update(mode=Cluster.Mode.ENFORCE)
    assert "is in Enforce mode" in said(delete(root, PROD, reason="over"))
    Cluster.objects.update(mode=Cluster.Mode.OBSERVE, untidy=True)
    assert "may still contain changes" in said(delete(root, PROD, reason="over"))
    assert Cluster.objects.exists()


def test_a_tree_is_deleted_when_no_cluster_uses_it(root: APIClient, cluster: Cluster) -> None:
    """With its revisions and drafts, and by admins alone."""
    Editing(root)
    assert said(delete(root, TREE, reason="over")) == (
        "prod-tree is the queue tree of these clusters: prod. Remove them first."
    )
    delete(root, PROD, reason="over")
    operator = client_of(builders.user("olga", role=User.Role.OPERATOR), scopes=["tree:write"])
    assert delete(operator, TREE, reason="over").status_code == 403
    assert delete(root, TREE).status_code == 400
    assert delete(root, TREE, reason="over").status_code == 204
    assert not any(model.objects.exists() for model in (Hierarchy, Revision, Draft))
    event = AuditEvent.objects.get(verb="hierarchy.delete")
    assert (event.target, event.reason, event.details["revisions"], event.details["drafts"]) == (
        "prod-tree",
        "over",
        1,
        1,
    )
