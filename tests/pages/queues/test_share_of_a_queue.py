"""The share by which a policy compares queues, as a pass finds it: on the page, by REST, as CSV and as a metric."""

import csv
import io
from typing import Any

import pytest
from django.test import Client

from engine.model.queue_tree import WEIGHT_ONE
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import Terms, publish
from scheduler_admin.worker.passes import run_pass
from tests.builders import ask, node, pod, queue, tree
from tests.metrics.reading import value
from tests.metrics.test_stored import _token, scraped
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"prod": queue("4"), "test": queue("2", weight=2 * WEIGHT_ONE)})
TEST = "root.test"
__all__ = ["_token"]


def passed(policy: str, dialect: str) -> Cluster:
    """A cluster under a policy, of which a pass has seen that test uses 4 of 8 cores and a tenth of the memory."""
    hierarchy = Hierarchy.objects.create(name="main")
    publish(hierarchy=hierarchy, tree=TREE, author=None, reason="test", terms=Terms(policy, dialect))
    hierarchy.refresh_from_db()
    made = Cluster.objects.create(name="east", hierarchy=hierarchy, mode="observe")
    pods = [pod(f"test-{number}", queue="test", node="n1", cpu=2) for number in range(2)]
    run_pass(cluster=made, watch=Watch(node("n1", 8), *pods, ask("prod-0", queue="prod", cpu=4)))
    return made


def share(client: Client, path: str = TEST) -> Any:
    """Of a queue by REST."""
    return client.get(f"/api/v1/clusters/east/queues/{path}").json()["queue"]["share"]


def page(client: Client, path: str = TEST) -> str:
    return " ".join(client.get(f"/clusters/east/queues/{path}/").content.decode().split())


def lines(client: Client) -> dict[tuple[str, str], dict[str, str]]:
    """The lines of the CSV, by queue and resource."""
    answer = client.get("/clusters/east/queues.csv")
    assert answer["Content-Disposition"] == 'attachment; filename="queues-east.csv"'
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return {(one["queue"], one["resource"]): one for one in csv.DictReader(io.StringIO(text))}


def test_under_fair_sharing_it_is_what_a_queue_borrows(ada: Client) -> None:
    """Without any Kueue: 2 of the 6 cores that the cohort could lend, in thousandths, by weight."""
    passed("fair-share", "kueue")
    assert share(ada) == {
        "basis": "borrowed",
        "value": "166.66666666666666",
        "weight": "2",
        "resource": "cpu",
        "amount": "2",
        "whole": "6",
        "sentence": "166.67: borrows 2 of 6 cpu lendable, weight 2",
    }
    assert share(ada, "root.prod")["sentence"] == "0: borrows nothing"
    assert share(ada, "root") is None
    assert "Fair sharing share 166.67: borrows 2 of 6 cpu lendable, weight 2." in page(ada)
    assert "Fair sharing share" not in page(ada, "root")


def test_where_the_cluster_is_divided_by_shares_it_is_the_dominant_share(ada: Client) -> None:
    """Of what is divided: 4 of 8 cores, by weight."""
    passed("deserved", "arbitrator")
    assert share(ada) == {
        "basis": "used",
        "value": "0.25",
        "weight": "2",
        "resource": "cpu",
        "amount": "4",
        "whole": "8",
        "sentence": "25%: uses 4 of 8 cpu in the cluster, weight 2",
    }
    assert share(ada, "root.prod")["sentence"] == "0%: uses nothing"
    assert "Dominant share 25%: uses 4 of 8 cpu in the cluster, weight 2." in page(ada)


@pytest.mark.parametrize(
    ("policy", "dialect"), [("fence", "design"), ("cohort", "kueue"), ("priority", "kube-scheduler")]
)
def test_other_policies_compare_no_shares(ada: Client, policy: str, dialect: str) -> None:
    """So none is told."""
    passed(policy, dialect)
    assert share(ada) is None
    assert "share 1" not in page(ada)
    assert lines(ada)[TEST, "cpu"]["share"] == ""


def test_it_is_in_the_csv_with_what_the_queue_deserves(ada: Client) -> None:
    """A line for each resource of each queue, with the numbers of REST."""
    passed("deserved", "arbitrator")
    assert lines(ada)[TEST, "cpu"] == {
        "cluster": "east",
        "queue": TEST,
        "leaf": "True",
        "resource": "cpu",
        "used": "4",
        "guaranteed": "2",
        "max": "",
        "requested": "4",
        "deserved": "4",
        "lent": "0",
        "pending_pods": "0",
        "share": "0.25",
        "share_basis": "used",
        "share_resource": "cpu",
        "weight": "2",
    }
    link = ada.get("/clusters/east/queues/").content.decode()
    assert '<a class="btn" href="/clusters/east/queues.csv" download>Download CSV</a>' in link


def test_a_tenant_gets_its_own_queues_as_csv(ada: Client) -> None:
    """And a stranger nothing."""
    passed("deserved", "arbitrator")
    tina = client_of(rows.tenant_user("tina", TEST, ("one",)))
    assert {queue for queue, _resource in lines(tina)} == {TEST}
    assert (
        client_of(rows.tenant_user("sam", "root.elsewhere", ("two",))).get("/clusters/east/queues.csv").status_code
        == 404
    )


def test_it_is_a_metric(client: Client, settings: Any) -> None:
    """With what is counted in it."""
    passed("fair-share", "kueue")
    found = value(scraped(client), "queue_share", cluster="east", queue=TEST, basis="borrowed")
    assert found == pytest.approx(1000 / 6)
