"""Admits pods: priority, tolerations, quality of service, and which fields may change later."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.model.quantities import parse_quantity
from simulator.objects import Object, clone
from simulator.status import cause, invalid
from simulator.storage import priority_admission

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulator.kinds import ApiResource
    from simulator.storage.versioned_objects import VersionedObjects

NODE_TROUBLE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
IMMUTABLE = (
    "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
ADDITIONS_ONLY = "Forbidden: existing toleration can not be modified except its tolerationSeconds"


def admit(store: VersionedObjects, kind: ApiResource, pod: Object) -> None:
    """Set the fields that admission determines for a new pod, in place. Raises ApiError 403."""
    spec = pod["spec"]
    priority_admission.resolve(store, kind, pod)
    _add_default_tolerations(spec)
    _merge_label_keys(pod)
    pod["status"].setdefault("qosClass", quality_of_service(spec))


def _add_default_tolerations(spec: Object) -> None:
    tolerations = spec.setdefault("tolerations", [])
    for key in NODE_TROUBLE:
        covered = (item.get("key") in (key, None, "") and item.get("effect") in ("NoExecute", None, "")
                   for item in tolerations)  # fmt: skip
        if not any(covered):
            tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})


def _merge_label_keys(pod: Object) -> None:
    """Add the pod's own labels to the selectors of its rules that request it; this happens only on creation."""
    spec, labels = pod["spec"], pod["metadata"].get("labels") or {}
    for rule in (*_affinity_terms(spec.get("affinity") or {}), *(spec.get("topologySpreadConstraints") or ())):
        selector = rule.get("labelSelector")
        if selector is None:
            continue
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
            for key in rule.get(field) or ():
                if key in labels:
                    expression = {"key": key, "operator": operator, "values": [labels[key]]}
                    selector.setdefault("matchExpressions", []).append(expression)


def _affinity_terms(affinity: Object) -> Iterator[Object]:
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for preference in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield preference["podAffinityTerm"]


def quality_of_service(spec: Mapping[str, Any]) -> str:
    """Return a pod's quality of service class: Guaranteed, Burstable or BestEffort."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    amounts = [_compute(container.get("resources") or {}) for container in containers]
    if not any(requests or limits for requests, limits in amounts):
        return "BestEffort"
    if all(set(limits) == {"cpu", "memory"} and requests == limits for requests, limits in amounts):
        return "Guaranteed"
    return "Burstable"


def _compute(resources: Mapping[str, Any]) -> tuple[Object, Object]:
    requests, limits = (
        {name: parse_quantity(amount) for name, amount in (resources.get(part) or {}).items()
         if name in ("cpu", "memory") and parse_quantity(amount)}
        for part in ("requests", "limits")
    )  # fmt: skip
    return requests, limits


def check_update(kind: ApiResource, old: Object, new: Object) -> None:
    """Complete an update in place as admission does, and raise ApiError 422 when it changes an immutable field."""
    before, after = old["spec"], new.setdefault("spec", {})
    for field in ("priority", "preemptionPolicy", "priorityClassName"):
        if field in before:
            after.setdefault(field, before[field])
    _add_default_tolerations(after)
    name = old["metadata"]["name"]
    if not _only_additions(before.get("tolerations") or [], after.get("tolerations") or []):
        raise invalid(kind, name, [cause("FieldValueForbidden", ADDITIONS_ONLY, "spec.tolerations")])
    if _fixed(before, before) != _fixed(after, before):
        raise invalid(kind, name, [cause("FieldValueForbidden", IMMUTABLE, "spec")])


def _only_additions(before: list[Object], after: list[Object]) -> bool:
    after_set = {_toleration(item) for item in after}
    return all(_toleration(item) in after_set for item in before)


def _toleration(toleration: Object) -> str:
    same = {field: value for field, value in toleration.items() if field != "tolerationSeconds" and value}
    return json.dumps({"operator": "Equal", **same}, sort_keys=True)


def _fixed(spec: Object, old: Object) -> Object:
    """Return the immutable fields: gates can only be removed, and selectors only narrowed while there are gates."""
    free = {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    if old.get("terminationGracePeriodSeconds", 0) < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        free.add("terminationGracePeriodSeconds")
    if old.get("schedulingGates"):
        free |= {"nodeSelector", "affinity"}
    fixed: Object = {field: value for field, value in clone(spec).items() if field not in free}
    for container in (*(fixed.get("containers") or ()), *(fixed.get("initContainers") or ())):
        container.pop("image", None)
        # The pull policy is derived from the image only on creation; a client that omits it changes nothing.
        container.pop("imagePullPolicy", None)
    return fixed
