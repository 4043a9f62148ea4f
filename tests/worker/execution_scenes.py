"""Carrying out as tests drive it: passes over the one cluster, and the decision that they carry out."""

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker import passes
from tests.worker.watch import Watch


def run(watch: Watch, times: int = 1) -> Decision:
    """Run passes; the newest decision that preempts."""
    for _ in range(times):
        current = Cluster.objects.select_related("hierarchy__current").get()
        passes.run_pass(cluster=current, watch=watch)
    return Decision.objects.filter(outcome="preempt").latest("pk")


def first(watch: Watch) -> Decision:
    """The first decision, after one pass."""
    run(watch)
    return Decision.objects.filter(outcome="preempt").earliest("pk")


def victims_of(row: Decision) -> list[str]:
    """The names of its victims."""
    return [victim.name for victim in row.victims.all()]
