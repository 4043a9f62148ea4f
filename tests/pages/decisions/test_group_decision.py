"""The page of a decision about a group: its pods with their nodes, the groups that go or stay whole, the checks."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.models import Decision
from tests.pages import moments, rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def row() -> Decision:
    """The decision, in a cluster that only observes."""
    made = rows.cluster("demo")
    rows.status(made)
    return moments.decide_group(made)


@pytest.fixture
def reader(client: Client) -> Client:
    """A browser of somebody who sees everything."""
    client.force_login(rows.user("ada", User.Role.OPERATOR))
    return client


def test_it_tells_where_the_pods_go_and_what_goes_whole(row: Decision, reader: Client) -> None:
    """Once for all of them."""
    page = reader.get(f"/clusters/demo/decisions/{row.pk}/")
    why = page.context["why"]
    assert text(why.sentence) == (
        "To start group llm-train-70b at priority 1000, 5 pods with lower priorities would be evicted."
    )
    assert text(why.because[0]) == "The group needs nodes for at least 4 pods at once."
    assert why.group.facts.key == "vision/llm-train-70b"
    assert len(why.group.seats) == 5
    assert {one.name: text(one.why) for one in why.whole} == {
        "search/embed-ring": "evicted with all of its 2 pods",
        "search/rank-ring": "spared with all of its 2 pods",
    }
    assert why.laws
    assert all(law.holds for law in why.laws)
    for words in (
        "Pending group",
        "Must run at once",
        "Requested together",
        "vision/llm-train-70b-0",
        "on several nodes",
    ):
        assert words in page.text


def test_what_would_have_spared_a_victim_names_its_group(row: Decision, reader: Client) -> None:
    """Its own priority counts for nothing."""
    page = reader.get(f"/clusters/demo/decisions/{row.pk}/")
    assert page.text.count("would be spared if the priority of its group <code>embed-ring</code> were") == 1
    assert "kube-scheduler’s own rules do not guarantee these checks" in page.text


def test_the_tenant_of_a_victim_is_told_of_its_own_group(row: Decision, client: Client) -> None:
    """And not whose group came."""
    client.force_login(rows.tenant_user("sue", "root.tenant-1.queue-b"))
    victim = row.victims.filter(name__startswith="embed-ring").first()
    assert victim
    page = client.get(f"/pods/demo/{victim.namespace}/{victim.name}/")
    assert "with its whole group <code>embed-ring</code>" in page.text
    assert "llm-train" not in page.text


def test_rest_tells_the_groups_own_side_where_its_pods_go(row: Decision) -> None:
    """Others learn no more of it than of a single pod."""
    api = APIClient()
    address = f"/api/v1/decisions/{row.pk}"
    api.force_authenticate(rows.user("ada", User.Role.OPERATOR))
    body = api.get(address).json()
    assert body["pending_pod"]["group"] == "llm-train-70b"
    assert {
        name: body["group"][name] for name in ("namespace", "name", "priority", "required_pods", "running_pods")
    } == {
        "namespace": "vision",
        "name": "llm-train-70b",
        "priority": 1000,
        "required_pods": 4,
        "running_pods": 0,
    }
    assert [(pod["name"], pod["node"]) for pod in body["group"]["pods"]][:2] == [
        ("llm-train-70b-0", "gpu-01"),
        ("llm-train-70b-1", "gpu-02"),
    ]
    api.force_authenticate(rows.tenant_user("sue", "root.tenant-1.queue-b"))
    body = api.get(address).json()
    assert (body["pending_pod"]["group"], body["group"]) == (None, None)
