"""Percentages by REST: sent and given back as they were typed, beside what they are of."""

import pytest
from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import tree_of
from tests.api.builders import RED
from tests.api.queues.test_tree_editors import TOP, eve
from tests.api.sending import errors, own_form, plan, put, queue_of

__all__ = ["eve"]


@pytest.fixture
def held(cluster: Cluster) -> ClusterStatus:
    """The cluster was seen to hold 100 cores."""
    status, _made = ClusterStatus.objects.update_or_create(cluster=cluster, defaults={"capacity": {"cpu": 100_000}})
    return status


def guaranteed(path: str) -> dict[str, int]:
    """Of a queue in force."""
    current = Hierarchy.objects.get(name="prod-tree").current
    assert current is not None
    return tree_of(current)[path].guaranteed


def test_it_is_given_back_as_it_was_typed(ada: APIClient, held: ClusterStatus, tag: str) -> None:
    """With what the cluster held; the same again changes nothing, though it holds more by now."""
    form = own_form(ada)
    queue_of(form, "root.blue")["guaranteed"] = {"cpu": "2.5%"}
    queue_of(form, RED)["guaranteed"]["cpu"] = "25 %"
    first = put(ada, form, match=tag)
    assert "root.blue: guaranteed cpu 2 → 2.5% = 2500m" in [row["sentence"] for row in first.json()["changes"]]
    assert (guaranteed("root.blue"), guaranteed(RED)["cpu"]) == ({"cpu": 2500}, 2000)
    form = own_form(ada)
    assert form["capacity"] == {"cpu": "100"}
    assert (queue_of(form, "root.blue")["guaranteed"], queue_of(form, RED)["guaranteed"]["cpu"]) == (
        {"cpu": "2.5%"},
        "25%",
    )
    held.capacity = {"cpu": 200_000}
    held.save()
    again = plan(ada, form).json()
    assert again["changed"] is False
    (odd,) = [row for row in again["findings"] if row["field"] == "capacity/cpu"]
    assert odd["cluster"] == "prod"


def test_without_capacity_it_is_of_what_the_cluster_holds_now(ada: APIClient, held: ClusterStatus, tag: str) -> None:
    """A pipeline that sends percentages alone follows the cluster."""
    form = own_form(ada)
    queue_of(form, "root.blue")["guaranteed"] = {"cpu": "2.5%"}
    first = put(ada, form, match=tag)
    held.capacity = {"cpu": 200_000}
    held.save()
    second = put(ada, form, match=first["ETag"]).json()
    assert [row["sentence"] for row in second["changes"]] == [
        "capacity cpu 100 → 200",
        "root.blue: guaranteed cpu 2.5% = 2500m → 2.5% = 5",
    ]


def test_of_what_nobody_knows_is_an_error_at_its_place(ada: APIClient, cluster: Cluster, tag: str) -> None:
    """Of a new tree, too."""
    form = own_form(ada)
    queue_of(form, "root.blue")["guaranteed"] = {"example.com/fpga": "50%"}
    response = put(ada, form, match=tag)
    assert (response.status_code, errors(response)) == (
        422,
        [{"pointer": "/queues/1/guaranteed/example.com~1fpga", "queue": "root.blue"}],
    )


def test_an_editor_neither_reads_nor_says_what_the_cluster_holds(
    ada: APIClient, eve: APIClient, held: ClusterStatus, tag: str
) -> None:
    """Percentages of theirs come to the same all the same."""
    form = own_form(ada)
    queue_of(form, "root.blue")["guaranteed"] = {"cpu": "2.5%"}
    put(ada, form, match=tag)
    part = own_form(eve)
    assert "capacity" not in part
    queue_of(part, RED)["guaranteed"]["cpu"] = "25%"
    response = put(eve, part | {"capacity": {"cpu": "900"}}, match="*", subtree=TOP)
    assert (response.status_code, errors(response)) == (422, [{"pointer": "/capacity"}])
    assert put(eve, part, match="*", subtree=TOP).status_code == 200
    assert (guaranteed("root.blue"), guaranteed(RED)["cpu"]) == ({"cpu": 2500}, 2000)
