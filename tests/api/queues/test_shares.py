"""What queues deserve, borrow and lend, where the cluster is divided by shares."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.services.hierarchies import Terms, publish, tree_of
from scheduler_admin.usage.models import UsageSample
from scheduler_admin.usage.runs import Amount, Now, pack
from tests.api.builders import BLUE, NOW, RED, amounts

PROD = "/api/v1/clusters/prod"


@pytest.fixture
def divided(cluster: Cluster) -> Cluster:
    """Red uses 5.5 cores and deserves four; blue uses one and deserves three."""
    shares = {RED: ("9", "4"), "root.red": ("9", "4"), BLUE: ("3", "3"), "root": ("12", "7")}
    status = cluster.status
    for path, (requested, deserved) in shares.items():
        status.queues[path] |= {"requested": amounts(cpu=requested), "deserved": amounts(cpu=deserved)}
    status.save()
    return cluster


def queue(client: APIClient, path: str) -> dict[str, Any]:
    """One queue as its route answers."""
    found: dict[str, Any] = client.get(f"{PROD}/queues/{path}").json()
    return found


def test_a_queue_stands_against_what_it_deserves(olga: APIClient, divided: Cluster) -> None:
    """Beside its guarantee, exact to the unit."""
    found = queue(olga, RED)["queue"]["resources"]["cpu"]
    assert (found["requested"], found["deserved"], found["deserved_status"]) == ("9", "4", "above")
    found = queue(olga, BLUE)["queue"]["resources"]["cpu"]
    assert (found["requested"], found["deserved"], found["deserved_status"]) == ("3", "3", "below")


def test_what_a_queue_borrows_and_lends_is_told_by_whom_from_whom(olga: APIClient, divided: Cluster) -> None:
    """One and a half cores: all of it of blue, which leaves two."""
    found = queue(olga, RED)["loans"]
    assert found[0] == {
        "resource": "cpu",
        "borrowing": True,
        "amount": "1500m",
        "parties": [{"kind": "queue", "queue": BLUE, "amount": "1500m"}],
    }
    (lent,) = (one for one in queue(olga, BLUE)["loans"] if one["resource"] == "cpu")
    assert (lent["borrowing"], lent["amount"], lent["parties"][0]["queue"]) == (False, "1500m", RED)


def test_a_tenant_is_not_told_which_other_tenants_lend(alice: APIClient, divided: Cluster) -> None:
    """Only that they do, and how much in all."""
    parts = queue(alice, RED)["loans"][0]["parties"]
    assert parts == [{"kind": "others", "queue": "", "amount": "1500m"}]


def test_queues_side_by_side_below_one_lend_it_nothing(olga: APIClient, divided: Cluster) -> None:
    """What is borrowed and lent within it is not told of the root."""
    assert [one for one in queue(olga, "root")["loans"] if one["resource"] == "cpu"] == []


def test_a_hard_cap_above_the_quota_of_the_namespace_is_told(olga: APIClient, divided: Cluster) -> None:
    """With what the namespace may have; null where it is not so."""
    assert queue(olga, RED)["resource_quota_limit"] is None
    divided.status.queues[RED]["above_quota"] = {"namespace": "red", "allows": amounts(cpu="2")}
    divided.status.save()
    assert queue(olga, RED)["resource_quota_limit"] == {"namespace": "red", "allowed_amounts": {"cpu": "2"}}


def test_without_shares_a_queue_borrows_what_others_are_guaranteed(olga: APIClient, cluster: Cluster) -> None:
    """Here of the queue above it, which is guaranteed eight and gives its one leaf four of them."""
    (found,) = (one for one in queue(olga, RED)["loans"] if one["borrowing"])
    assert found["parties"] == [{"kind": "queue", "queue": "root.red", "amount": "1500m"}]
    assert queue(olga, "root.red")["loans"] == []


def test_what_a_pass_found_lent_is_told_beside_what_is_used(olga: APIClient, cluster: Cluster) -> None:
    """Null until a pass has read the queue."""
    cluster.status.queues[BLUE]["lent"] = amounts(cpu="500m")
    cluster.status.save()
    assert queue(olga, BLUE)["queue"]["resources"]["cpu"]["lent"] == "500m"
    assert queue(olga, RED)["queue"]["resources"]["cpu"]["lent"] == "0"
    cluster.status.delete()
    assert queue(olga, BLUE)["queue"]["resources"]["cpu"]["lent"] is None


def test_where_guarantees_count_for_nothing_nothing_is_borrowed_or_lent(olga: APIClient, cluster: Cluster) -> None:
    """As under policy priority."""
    hierarchy = cluster.hierarchy
    assert hierarchy is not None
    assert hierarchy.current is not None
    tree = tree_of(hierarchy.current)
    publish(
        hierarchy=hierarchy, tree=tree, author=None, reason="other rules", terms=Terms("priority", "kube-scheduler")
    )
    assert queue(olga, RED)["loans"] == []


def test_what_was_deserved_is_told_over_time(olga: APIClient, cluster: Cluster) -> None:
    """Sample by sample, null where the policy was another."""
    for minute, deserved in enumerate([None, 3000, 2500]):
        said = {RED: Now(0, {"cpu": Amount(1000, deserved=deserved)})}
        UsageSample.objects.create(cluster=cluster, at=NOW.replace(hour=11, minute=minute), document=pack(said))
    body = olga.get(f"{PROD}/usage", {"queue": RED, "resource": "cpu"}).json()
    assert [sample["deserved"] for sample in body["samples"]] == [None, "3", "2500m"]
