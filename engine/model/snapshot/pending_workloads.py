"""Work that waits before any of its pods may be scheduled: Kueue's workloads without quota."""

from collections.abc import Iterator

from engine.model.objects.kubernetes import Pod
from engine.model.objects.kueue import QuotaCluster, Workload
from engine.model.quantities import PODS, Amounts, total
from engine.model.queue_tree import QueueTree


def pending_workloads(cluster: QuotaCluster, tree: QueueTree) -> tuple[Pod, ...]:
    """Return every workload that waits for quota as one pod of all that it wants, in the leaf of its ClusterQueue.

    Its pods are gated, or not created yet, so no scheduler reports on them. Kueue's report on the workload is its
    ``unschedulable_message``. Sorted by priority, then by time.
    """
    found = sorted(_pending(cluster, tree), key=lambda pod: pod.turn)
    return tuple(found)


def _pending(cluster: QuotaCluster, tree: QueueTree) -> Iterator[Pod]:
    for one in cluster.workloads:
        if one.holds or one.done:
            continue
        name = one.queue.replace(".", "_")
        leaf = tree.leaf_by_name.get(name) if name else None
        since = one.waits_ms if one.waits_ms is not None else one.created_ms
        yield Pod(
            uid=one.uid,
            namespace=one.namespace,
            name=one.name,
            queue=leaf or tree.leaf_by_namespace.get(one.namespace),
            application=one.owner,
            requests=_requests(one),
            priority=one.priority,
            created_ms=one.created_ms,
            unschedulable_ms=since,
            unschedulable_message=one.waits_why,
            workload=one.name,
            gated=True,
        )


def _requests(workload: Workload) -> Amounts:
    sets = workload.pod_sets
    asked = total({name: amount * one.count for name, amount in one.requests.items()} for one in sets)
    return {**asked, PODS: sum(one.count for one in sets)}
