"""The subresources of pods that schedulers use: binding and eviction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simulator.objects import Object, condition_true, set_condition, timestamp
from simulator.selectors import match_labels
from simulator.status import ApiError, cause, conflict, forbidden, internal_error, too_many_requests
from simulator.storage import deletion

if TYPE_CHECKING:
    from simulator.storage.versioned_objects import VersionedObjects

BUDGETS = "poddisruptionbudgets.policy"
WOULD_VIOLATE = "Cannot evict pod as it would violate the pod's disruption budget."
MOST_DISRUPTED = 2000
STILL_PROCESSED_RETRY = 10


def bind(store: VersionedObjects, namespace: str, name: str, node: str, uid: str | None, *, dry_run: bool) -> Object:
    """Assign a pod to a node. Raises ApiError 404, and 409 when it is bound, gated or being deleted."""
    kind = store.kinds["pods"]
    pod = store.get("pods", namespace, name)
    why = _unbindable(pod, uid)
    if why:
        raise conflict(kind, name, why, "binding")

    def assign(copy: Object) -> None:
        copy["spec"]["nodeName"] = node
        # The nomination has served its purpose: the scheduler must not reserve the capacity twice.
        copy.get("status", {}).pop("nominatedNodeName", None)
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None}
        set_condition(copy, scheduled, timestamp(store.now()))
        for condition in copy["status"]["conditions"]:
            if condition["type"] == "PodScheduled":
                condition.pop("reason", None)
                condition.pop("message", None)

    return pod if dry_run else store.mutate("pods", namespace, name, assign)


def _unbindable(pod: Object, uid: str | None) -> str | None:
    meta, spec = pod["metadata"], pod["spec"]
    if uid and uid != meta["uid"]:
        return f"Precondition failed: UID in precondition: {uid}, UID in object meta: {meta['uid']}"
    if "deletionTimestamp" in meta:
        return f"pod {meta['name']} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f'pod {meta["name"]} is already assigned to node "{spec["nodeName"]}"'
    if spec.get("schedulingGates"):
        return f"pod {meta['name']} has non-empty .spec.schedulingGates"
    return None


def evict(store: VersionedObjects, namespace: str, name: str, request: deletion.Request) -> Object:
    """Evict a pod if its disruption budget allows, charging the budget. Raises ApiError 404, 409, 429 and 500."""
    kind = store.kinds["pods"]
    pod = store.get("pods", namespace, name)
    budget = None if _needs_no_budget(pod) else _budget(store, pod)
    if budget is not None and not _unhealthy_may_go(pod, budget):
        _check_budget(store, budget)
        if not request.dry_run:
            _charge(store, budget, name)
    # As in the API server: a request for another UID has been charged to the budget anyway.
    deletion.check_preconditions(kind, pod, request.preconditions)
    if not request.dry_run and not _needs_no_budget(pod):
        store.mutate("pods", namespace, name, lambda copy: _note_eviction(store, copy), "status")
    # The version was checked above; setting the condition has changed it.
    request = replace(request, preconditions={})
    return deletion.delete(store, kind, store.get("pods", namespace, name), request)


def _needs_no_budget(pod: Object) -> bool:
    phase = pod["status"].get("phase")
    return phase in (*deletion.FINISHED, "Pending") or "deletionTimestamp" in pod["metadata"]


def _budget(store: VersionedObjects, pod: Object) -> Object | None:
    meta = pod["metadata"]
    budgets = [
        item
        for item in store.list(BUDGETS, meta["namespace"])
        if match_labels((item.get("spec") or {}).get("selector"), meta.get("labels"))
    ]
    if len(budgets) > 1:
        raise internal_error(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    return budgets[0] if budgets else None


def _unhealthy_may_go(pod: Object, budget: Object) -> bool:
    """Return whether a pod that is not ready may be evicted without charging its budget."""
    if condition_true(pod, "Ready"):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired: int = status.get("desiredHealthy", 0)
    return desired > 0 and status.get("currentHealthy", 0) >= desired


def _check_budget(store: VersionedObjects, budget: Object) -> None:
    kind = store.kinds[BUDGETS]
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        why = f"The disruption budget {name} is still being processed by the server."
        raise _refused(why, STILL_PROCESSED_RETRY)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise forbidden(kind, name, "pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or ()) > MOST_DISRUPTED:
        raise forbidden(kind, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
    if allowed == 0:
        needs, has = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        raise _refused(f"The disruption budget {name} needs {needs} healthy pods and has {has} currently", 0)


def _refused(why: str, retry_after: int) -> ApiError:
    return too_many_requests(WOULD_VIOLATE, retry_after, [cause("DisruptionBudget", why)])


def _charge(store: VersionedObjects, budget: Object, pod: str) -> None:
    now = timestamp(store.now())

    def charge(copy: Object) -> None:
        status = copy["status"]
        status["disruptionsAllowed"] -= 1
        status.setdefault("disruptedPods", {})[pod] = now
        if status["disruptionsAllowed"] == 0:
            exhausted = {"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
                         "observedGeneration": copy["metadata"].get("generation", 0)}  # fmt: skip
            set_condition(copy, exhausted, now)

    store.mutate(BUDGETS, budget["metadata"]["namespace"], budget["metadata"]["name"], charge, "status")


def _note_eviction(store: VersionedObjects, pod: Object) -> None:
    target = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    set_condition(pod, target, timestamp(store.now()))
