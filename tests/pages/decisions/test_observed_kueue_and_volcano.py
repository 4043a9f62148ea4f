"""What Kueue and Volcano preempted, on the pages and by REST: their word, and that there is no more to be told."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from django.test import Client

from engine.model.objects import Flavor, Pod, PodSet, Preempted, Workload
from engine.model.snapshot import ObjectChange
from scheduler_admin.accounts.models import Site
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker.passes import run_pass
from tests.builders import node, pod, queue, tree
from tests.engine import quota_builders as quota
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.pages.markup import squeezed
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"tenant-1": queue(), "tenant-1.a": queue("4", namespaces=("one",)), "tenant-2.b": queue("2")})


def now_ms() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


def going(name: str, on: str = "n1", **settings: Any) -> Pod:
    """A pod of tenant-2 that was told to go just now."""
    told = {"terminating": True, "deleted_ms": now_ms() - 4_000, "created_ms": now_ms() - 600_000}
    return pod(name, node=on, queue="tenant-2.b", namespace="two", **told | settings)


@pytest.fixture
def cluster(db: None) -> Cluster:
    """Somebody's cluster, only observed."""
    return add_cluster(TREE, mode="observe")


@pytest.fixture
def by_kueue(cluster: Cluster) -> Decision:
    """For the Job web of tenant-1 it has preempted the Job train of tenant-2, on two nodes."""
    told = Preempted(
        uid="uid-w",
        namespace="two",
        name="job-train-1",
        at_ms=now_ms() - 5_000,
        ask_uid="uid-web",
        ask_kind="Workload",
        why="InCohortReclamation",
        place="/cohort/cq-two",
        ask_place="/cohort/secret-cq",
    )
    train = Workload(uid="uid-w", namespace="two", name="job-train-1", owners=("Job/train",), preempted=told)
    web = Workload(uid="uid-web", namespace="one", name="secret-web", owners=("Job/secret",), queue="secret-cq",
                   pod_sets=(PodSet(name="main", count=1, requests={"cpu": 1000}),))  # fmt: skip
    pods = [going("train-0", controller="Job/train"), going("train-1", "n2", controller="Job/train")]
    watch = Watch(node("n1", 2), node("n2", 2), pods, web)
    watch.state.cluster_queues |= {
        "cq-two": quota.queue("cq-two", cpu=1000),
        "secret-cq": quota.queue("secret-cq", cpu=1000),
    }
    watch.state.flavors[quota.FLAVOR] = Flavor(name=quota.FLAVOR)
    held = {"queue": "cq-two", "holds": True, "usage": {(quota.FLAVOR, "cpu"): 2000}}
    before = msgspec.structs.replace(train, preempted=None, **held)
    watch.state.changes.append(ObjectChange(lambda state: state.workloads, "uid-w", before, train))
    watch.state.workloads["uid-w"] = train
    run_pass(cluster=cluster, watch=watch)
    return Decision.objects.get(source="kueue")


@pytest.fixture
def by_volcano(cluster: Cluster) -> Decision:
    """It has reclaimed a pod of tenant-2."""
    watch = Watch(node("n1", 2), going("train-0"))
    told = Preempted(uid="uid-train-0", namespace="two", name="train-0", at_ms=now_ms() - 5_000, why="reclaim")
    watch.state.volcano["event"] = told
    run_pass(cluster=cluster, watch=watch)
    return Decision.objects.get(source="volcano")


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return squeezed(answer.content.decode())


def test_the_decision_tells_kueues_word(ada: Client, by_kueue: Decision) -> None:
    """For which workload, by which rule, from which ClusterQueue; and what its own rules answer."""
    html = text(ada, f"/clusters/east/decisions/{by_kueue.pk}/")
    for said in (
        "Kueue preempted 2 pods for the workload <code>secret-web</code>.",
        "The ClusterQueue <code>cq-two</code> had borrowed quota, and <code>secret-cq</code> claimed it back",
        "2 victims, on several nodes",
        "reclaimed in the cohort, in ClusterQueue <code>cq-two</code>",
        "A replay with the policy “cohort” on Kueue’s quota just before the preemption gives the same result",
        "The replay preempts <code>two/job-train-1</code> of the ClusterQueue <code>cq-two</code>",
        "The workload would get: <code>cpu=default</code>.",
        "it is unknown whether fair sharing is on",
        "<code>job-train-1</code> would be spared if the guarantee of cq-two were at least 2 cores. It is 1 core now.",
        "<dd>Kueue</dd>",
        "Evicted by: Kueue.",
    ):
        assert said in html, said
    assert html.count("would be spared if the guarantee of cq-two were at least") == 1


def test_the_decision_tells_volcanos_word_and_that_it_does_not_say_for_whom(ada: Client, by_volcano: Decision) -> None:
    """Nobody is supposed in its place."""
    html = text(ada, f"/clusters/east/decisions/{by_volcano.pk}/")
    assert "Volcano reclaimed 1 pod for a job of another queue. Volcano does not record for which job." in html
    assert "1 victim on n1" in html


def test_the_history_shows_and_sifts_them_as_all_others(ada: Client, by_kueue: Decision) -> None:
    """Who asked is the Job; by REST likewise."""
    html = text(ada, "/clusters/east/history/?source=kueue")
    assert "<code>Job/secret</code>" in html
    assert "reclaimed in the cohort" in html
    assert "Job/secret" not in text(ada, "/clusters/east/history/?source=volcano")
    (found,) = ada.get("/api/v1/clusters/east/decisions?source=kueue").json()["results"]
    assert (found["source"], found["reason"]) == ("kueue", "InCohortReclamation")
    assert (found["pending_pod"]["uid"], found["pending_pod"]["application"]) == ("uid-web", "Job/secret")


def test_by_rest_its_own_rules_answer_in_sentences_too(ada: Client, by_kueue: Decision) -> None:
    """For those who see everything: workloads of everyone are named in them."""
    found = ada.get(f"/api/v1/decisions/{by_kueue.pk}").json()
    assert "gives the same result: the same workloads for the same reasons." in found["replay_sentences"][0]
    assert [one["name"] for one in found["document"]["weighed"]["ours"]] == ["job-train-1"]
    tina = client_of(rows.tenant_user("tina", "root.tenant-2", ("two",)))
    told = tina.get(f"/api/v1/decisions/{by_kueue.pk}").json()
    assert (told["replay_sentences"], told["document"]) == (None, None)


def test_the_history_says_that_who_asked_is_not_known(ada: Client, by_volcano: Decision) -> None:
    """That is another thing than that nobody did."""
    html = text(ada, "/clusters/east/history/")
    assert "unknown</span>" in html
    assert "none</span>" not in html
    Decision.objects.update(source="api-eviction", reason="api-eviction")
    assert "none</span>" in text(ada, "/clusters/east/history/")


def test_the_victims_tenant_reads_of_kueues_the_askers_queue_at_most(by_kueue: Decision) -> None:
    """Neither the workload nor its ClusterQueue."""
    tina = client_of(rows.tenant_user("tina", "root.tenant-2", ("two",)))
    html = text(tina, f"/pods/east/two/train-0/?decision={by_kueue.pk}")
    assert "to give its quota to a workload of a." in html
    assert "Its ClusterQueue had borrowed quota, and another one claimed it back within the cohort" in html
    assert "would be spared if the guarantee of cq-two were at least 2 cores. It is 1 core now." in html
    assert "secret" not in html
    Site.objects.update_or_create(pk=1, defaults={"preemptor": Site.Preemptor.UID})
    html = text(tina, f"/pods/east/two/train-0/?decision={by_kueue.pk}")
    assert "The room is needed for the workload or pod group with UID <code>uid-web</code>." in html
    Site.objects.update_or_create(pk=1, defaults={"preemptor": Site.Preemptor.NONE})
    html = text(tina, f"/pods/east/two/train-0/?decision={by_kueue.pk}")
    assert "to give its quota to another workload." in html


def test_the_victims_tenant_reads_of_volcanos_all_that_there_is(by_volcano: Decision) -> None:
    """The same sentence, about the pod."""
    tina = client_of(rows.tenant_user("tina", "root.tenant-2", ("two",)))
    html = text(tina, f"/pods/east/two/train-0/?decision={by_volcano.pk}")
    assert "for a job of another queue. Volcano does not record for which job." in html
    assert "Evicted by: Volcano." in html
    assert "accepted the eviction" not in html
