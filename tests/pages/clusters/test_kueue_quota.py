"""Kueue's quota as passes store it: on the pages of its queues, in a table of its own, by REST; to each their own."""

from typing import Any

import msgspec
import pytest
from django.test import Client

from engine.model.objects import Flavor, KueueSettings
from engine.model.snapshot import ClusterState
from scheduler_admin.clusters.models import Cluster, ClusterStatus, KueueQuota
from scheduler_admin.worker.passes import run_pass
from tests.builders import node, queue, tree
from tests.engine import quota_builders as quota
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"company.research": queue("1"), "company.web": queue("1")})
RESEARCH = "/clusters/east/queues/root.company.research/"


def kueue(state: ClusterState, fair: bool | None = True) -> None:
    """Research borrows three cores of web, beside it in the cohort; lone is in none, and in no tree of ours."""
    state.flavors[quota.FLAVOR] = Flavor(name=quota.FLAVOR)
    research, web = quota.queue("research", "company", cpu=6000), quota.queue("web", "company", cpu=10000)
    lone = quota.queue("lone", "", cpu=quota.FlavorQuota(2000, borrowing=1000, lending=500))
    state.cluster_queues |= {one.name: one for one in (research, web, lone)}
    held = [quota.holds("w", "research", cpu=9000), quota.holds("v", "web", cpu=6000)]
    state.workloads |= {one.uid: one for one in held}
    if fair is not None:
        state.sharing["c"] = KueueSettings(name="c", fair=fair)


@pytest.fixture
def watch() -> Watch:
    found = Watch(node("n1", 20))
    kueue(found.state)
    return found


@pytest.fixture
def cluster(watch: Watch) -> Cluster:
    """A pass has seen it."""
    made = add_cluster(TREE, mode="observe")
    run_pass(cluster=made, watch=watch)
    return made


def html(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return " ".join(answer.content.decode().split())


def told(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/v1/clusters/east/quota").json()
    return found


def line(client: Client, name: str) -> dict[str, Any]:
    """The only one of a queue."""
    ((only,),) = (one["quota"] for one in told(client)["results"] if one["name"] == name)
    return only


def test_the_page_of_a_queue_has_its_quota_and_a_share_that_explains_itself(ada: Client, cluster: Cluster) -> None:
    """By flavor and resource; a cohort's with what its members lend it."""
    page = html(ada, RESEARCH)
    assert "Kueue quota" in page
    assert "ClusterQueue research" in page
    assert "Fair sharing share 187.5: borrows 3 of 16 cpu lendable, weight 1." in page
    above = html(ada, "/clusters/east/queues/root.company/")
    assert "Cohort company, including quota that its members lend" in above
    assert "Fair sharing share" not in above


def test_a_queue_that_the_tree_has_not_is_in_a_table_of_its_own(ada: Client, cluster: Cluster) -> None:
    """The others are on their pages."""
    page = html(ada, "/clusters/east/queues/")
    assert "for Kueue queues that are not in this tree" in page
    assert "<code>lone</code>" in page
    assert "<code>research</code>" not in page


def test_without_kueue_there_is_nothing_of_it(ada: Client) -> None:
    """Neither on the pages nor kept; by REST nothing is in it."""
    run_pass(cluster=add_cluster(TREE, mode="observe"), watch=Watch(node("n1", 20)))
    assert not KueueQuota.objects.exists()
    assert "Kueue" not in html(ada, RESEARCH)
    assert "Kueue" not in html(ada, "/clusters/east/queues/")
    nothing = {"changed_at": None, "fair_sharing": None, "fair_sharing_strategies": None}
    assert told(ada) == {"cluster": "east", **nothing, "results": []}


def test_where_kueue_preempts_in_the_classic_way_shares_are_not_shown(ada: Client, watch: Watch) -> None:
    """They count for nothing there; REST has them all the same."""
    kueue(watch.state, fair=False)
    run_pass(cluster=add_cluster(TREE, mode="observe"), watch=watch)
    assert "Fair sharing share" not in html(ada, RESEARCH)
    assert told(ada)["fair_sharing"] is False


BOTH = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


@pytest.mark.parametrize(
    ("sharing", "strategies", "sentence"),
    [
        (
            {"fair": True},
            list(BOTH),
            f"Kueue uses fair sharing with these preemption strategies, in this order: {', '.join(BOTH)}.",
        ),
        (
            {"fair": True, "strategies": BOTH[1:]},
            ["LessThanInitialShare"],
            "Kueue uses fair sharing with these preemption strategies, in this order: LessThanInitialShare.",
        ),
        ({"fair": False}, None, "Kueue does not use fair sharing."),
        (None, None, "Whether Kueue uses fair sharing is unknown: its configuration can’t be read."),
    ],
)
def test_the_strategies_that_kueue_runs_with_are_shown(
    ada: Client, sharing: Any, strategies: list[str] | None, sentence: str
) -> None:
    """Its own words, or its defaults; that it has none, or that nobody knows."""
    watch = Watch(node("n1", 20))
    kueue(watch.state, fair=None)
    if sharing is not None:
        watch.state.sharing["c"] = KueueSettings(name="c", **sharing)
    run_pass(cluster=add_cluster(TREE, mode="observe"), watch=watch)
    assert told(ada)["fair_sharing_strategies"] == strategies
    for page in (RESEARCH, "/clusters/east/queues/"):
        assert sentence in html(ada, page)


def test_by_rest_it_is_all_there(ada: Client, cluster: Cluster) -> None:
    """With the queue of the tree that each is, and the share in its parts."""
    found = {one["name"]: one for one in told(ada)["results"]}
    assert list(found) == ["lone", "company", "research", "web"]
    assert {name: one["queue"] for name, one in found.items()} == {
        "lone": None,
        "company": "root.company",
        "research": "root.company.research",
        "web": "root.company.web",
    }
    assert found["research"]["share"] == {
        "value": "187.5",
        "weight": "1",
        "resource": "cpu",
        "borrowed": "3",
        "lendable": "16",
        "sentence": "187.5: borrows 3 of 16 cpu lendable, weight 1",
    }
    assert line(ada, "lone") == {
        "flavor": "default",
        "resource": "cpu",
        "nominal": "2",
        "total": "2",
        "borrowing_limit": "1",
        "lending_limit": "500m",
        "used": "0",
        "borrowed": "0",
        "lent": "0",
        "available": "2",
    }
    assert (line(ada, "web")["lent"], line(ada, "web")["available"]) == ("3", "1")


def test_a_tenant_sees_its_own_queues_and_not_what_others_leave_free(cluster: Cluster) -> None:
    """What could be borrowed now would tell how much the others use."""
    tina = client_of(rows.tenant_user("tina", "root.company.research", ("one",)))
    assert [one["name"] for one in told(tina)["results"]] == ["research"]
    assert (line(tina, "research")["borrowed"], line(tina, "research")["available"]) == ("3", "0")
    page = html(tina, RESEARCH)
    assert "187.5: borrows 3 of 16 cpu lendable, weight 1" in page
    assert "lone" not in html(tina, "/clusters/east/queues/")


def test_a_tenant_is_told_how_much_of_its_own_quota_others_hold(cluster: Cluster) -> None:
    """And what is left of it."""
    tina = client_of(rows.tenant_user("tina", "root.company.web", ("one",)))
    assert (line(tina, "web")["lent"], line(tina, "web")["available"]) == ("3", "1")


def test_whoever_has_the_whole_cohort_sees_what_it_could_lend(watch: Watch) -> None:
    """All that uses it is theirs."""
    del watch.state.workloads["w"]
    run_pass(cluster=add_cluster(TREE, mode="observe"), watch=watch)
    part = client_of(rows.tenant_user("tina", "root.company.research", ("one",)))
    whole = client_of(rows.tenant_user("tom", "root.company", ("one",)))
    assert line(part, "research")["available"] == "6"
    assert line(whole, "research")["available"] == "10"


def test_a_stranger_sees_nothing_of_it(cluster: Cluster) -> None:
    """Not even the cluster."""
    sam = client_of(rows.tenant_user("sam", "root.elsewhere", ("two",)))
    assert sam.get("/api/v1/clusters/east/quota").status_code == 404


def test_it_is_written_when_it_changes_and_pages_are_told_so(cluster: Cluster, watch: Watch) -> None:
    """Not every second."""
    before, news = KueueQuota.objects.get(), ClusterStatus.objects.get().news
    run_pass(cluster=cluster, watch=watch)
    assert (KueueQuota.objects.get().changed_at, ClusterStatus.objects.get().news) == (before.changed_at, news)
    watch.state.workloads["w"] = msgspec.structs.replace(watch.state.workloads["w"], holds=False)
    run_pass(cluster=cluster, watch=watch)
    assert KueueQuota.objects.get().changed_at > before.changed_at
    assert ClusterStatus.objects.get().news > news
    watch.state.cluster_queues.clear()
    run_pass(cluster=cluster, watch=watch)
    assert not KueueQuota.objects.exists()


def test_of_what_is_not_read_whole_no_figure_is_told(cluster: Cluster, watch: Watch) -> None:
    """A worker that has just begun leaves what is there; one that may not read a kind of it takes it away."""
    before = KueueQuota.objects.get()
    watch.state.workloads.clear()
    watch.watcher.quota_known = None
    run_pass(cluster=cluster, watch=watch)
    assert KueueQuota.objects.get().document == before.document
    watch.watcher.quota_known = False
    run_pass(cluster=cluster, watch=watch)
    assert not KueueQuota.objects.exists()


def test_cohorts_in_a_ring_stop_no_pass(watch: Watch) -> None:
    """Kueue admits nothing there either."""
    watch.state.cohorts |= {name: quota.Cohort(name=name, parent=above) for name, above in (("x", "y"), ("y", "x"))}
    run_pass(cluster=add_cluster(TREE, mode="observe"), watch=watch)
    assert not KueueQuota.objects.exists()
