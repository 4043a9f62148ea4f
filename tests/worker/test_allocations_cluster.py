"""A pass over a cluster with Consumers: what everybody deserves stands there, and who has more is told so."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.watching.watchers import Watch
from scheduler_admin.core.monitoring.meters import Ended
from scheduler_admin.queues.services.hierarchies import Terms
from scheduler_admin.worker.passes import run_pass
from simulator.kubeconfig import kubeconfig
from tests.builders import queue, tree
from tests.controlplane import anycluster, arbitration
from tests.controlplane.anycluster import AnyCluster
from tests.waiting import wait_for
from tests.worker.conftest import add_cluster

pytestmark = pytest.mark.django_db


@pytest.fixture
def there() -> Iterator[AnyCluster]:
    """Four cores, all of them used in one namespace, and somebody who waits in another."""
    with anycluster.simulated() as cluster:
        arbitration.install(cluster)
        cluster.create("namespaces", {"metadata": {"name": "spark"}})
        cluster.add_node()
        for number in range(4):
            cluster.add_pod(f"w{number}", node="n1")
        wait_for(lambda: all(one["status"]["phase"] == "Running" for one in cluster.list("pods")), "they run")
        yield cluster


def watched(there: AnyCluster, mode: str, folder: Path) -> tuple[Cluster, Watch]:
    """The cluster by its kubeconfig, under policy deserved, read whole."""
    path = folder / "config"
    path.write_text(kubeconfig(there.address))
    shape = tree({"spark": queue("1", namespaces=("spark",)), "shop": queue(namespaces=(there.namespace,))})
    terms = Terms("deserved", "arbitrator")
    cluster = add_cluster(shape, terms=terms, mode=mode, kubeconfig=str(path))
    watch = Watch(cluster)
    wait_for(lambda: watch.watcher.health().synced and watch.watcher.health().arbitrated, "it is read")
    return cluster, watch


def test_in_enforce_everybody_is_told_what_it_deserves(there: AnyCluster, tmp_path: Path) -> None:
    """And gets a Consumer, also where the tree has no leaf; nothing is written again while nothing changes."""
    cluster, watch = watched(there, "enforce", tmp_path)
    try:
        passed = partial(run_pass, cluster=cluster, watch=watch)  # each has a little time for it
        found = wait_for(lambda: passed() is Ended.DONE and arbitration.allocation(there), "it is told")
        assert (found["spec"]["deserved"]["cpu"], found["status"]["conditions"][0]["status"]) == ("3", "True")
        assert arbitration.allocation(there, "spark")["spec"]["deserved"]["cpu"] == "1"
        made = there.send("GET", arbitration.path("default", "consumers"))["items"]
        assert [one["spec"] for one in made] == [{}]
        assert watch.missing == {}
        wait_for(lambda: len(watch.watcher.state().allocations) == 2, "both are seen")
        since = len(there.audit)
        assert run_pass(cluster=cluster, watch=watch) is Ended.DONE
        assert [one for one in there.audit[since:] if one.resource.startswith(("allocations", "consumers"))] == []
    finally:
        watch.close()


def test_in_advise_nothing_is_written(there: AnyCluster, tmp_path: Path) -> None:
    cluster, watch = watched(there, "advise", tmp_path)
    try:
        assert run_pass(cluster=cluster, watch=watch) is Ended.DONE
        assert arbitration.allocation(there) is None
        assert {one.verb for one in there.audit} <= {"get", "list", "watch"}
    finally:
        watch.close()
