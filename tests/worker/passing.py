"""Passes over a cluster of the tests, and what they decide."""

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker import passes
from tests.worker.watch import Watch


def run(cluster: Cluster, watch: Watch, times: int = 1) -> None:
    """Run passes over a cluster as it now stands in the database."""
    for _ in range(times):
        current = Cluster.objects.select_related("hierarchy__current").get(pk=cluster.pk)
        passes.run_pass(cluster=current, watch=watch)


def preemption() -> Decision:
    """The one decision that preempts."""
    return Decision.objects.get(outcome="preempt")
