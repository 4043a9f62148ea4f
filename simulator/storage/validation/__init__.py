"""Validates fields as the API server does, for what schedulers, budgets and quotas read.

A wrong JSON type is rejected with 400, as the API server's decoder does; a wrong value with 422 and a cause for each
field. Sources: pkg/apis/core, apps, batch and policy of Kubernetes 1.36 (their ``validation`` packages).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.status import Cause, invalid
from simulator.storage.validation import pods, workloads
from simulator.storage.validation.fields import annotation_keys, labels, quantities, resource_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulator.kinds import ApiResource
    from simulator.objects import Object


def validate(kind: ApiResource, obj: Object) -> None:
    """Check an object whose defaults are set. Raises ApiError 400 and 422."""
    meta = obj["metadata"]
    causes = [*labels(meta.get("labels"), "metadata.labels"), *annotation_keys(meta.get("annotations"))]
    check = _CHECKS.get(kind.key)
    if check is not None:
        causes += check(kind, obj)
    if causes:
        raise invalid(kind, meta.get("name", ""), causes)


def _pod(kind: ApiResource, obj: Object) -> Iterator[Cause]:
    return pods.spec(kind, obj["spec"], "spec")


def _node(kind: ApiResource, obj: Object) -> Iterator[Cause]:
    yield from pods.taints((obj.get("spec") or {}).get("taints"))
    status = obj.get("status") or {}
    for part in ("capacity", "allocatable"):
        yield from quantities(kind, status.get(part), f"status.{part}", "{path}.{name}")


def _quota(kind: ApiResource, obj: Object) -> Iterator[Cause]:
    hard = (obj.get("spec") or {}).get("hard") or {}
    for name in hard:
        yield from resource_name(name, f"spec.hard[{name}]", quota=True)
    yield from quantities(kind, hard, "spec.hard")


_CHECKS: dict[str, Callable[[ApiResource, Object], Iterator[Cause]]] = {
    "pods": _pod,
    "nodes": _node,
    "resourcequotas": _quota,
    "replicasets.apps": workloads.replica_set,
    "jobs.batch": workloads.job,
    "poddisruptionbudgets.policy": workloads.budget,
    "podgroups.scheduling.k8s.io": workloads.pod_group,
}
