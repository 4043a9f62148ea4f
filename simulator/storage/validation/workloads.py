"""Validates kinds that create pods protect them or group them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.selectors import match_labels
from simulator.storage.validation import pods
from simulator.storage.validation.fields import (
    count_or_percent,
    integer,
    labels,
    not_negative,
    one_of,
    required,
    selector,
    wrong,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulator.kinds import ApiResource
    from simulator.objects import Object
    from simulator.status import Cause

_UNHEALTHY = ("AlwaysAllow", "IfHealthyBudget")


def replica_set(kind: ApiResource, obj: Object) -> Iterator[Cause]:
    """Check a ReplicaSet, whose pods always restart."""
    spec = obj["spec"]
    yield from not_negative(spec.get("replicas"), "spec.replicas")
    if not spec.get("selector"):
        yield required("spec.selector")
    yield from _template(kind, spec)
    policy = spec["template"]["spec"].get("restartPolicy")
    yield from one_of(policy, ("Always",), "spec.template.spec.restartPolicy")


def job(kind: ApiResource, obj: Object) -> Iterator[Cause]:
    """Check a Job, whose pods must not always restart."""
    spec = obj["spec"]
    for field in ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"):
        yield from not_negative(spec.get(field), f"spec.{field}")
    yield from _template(kind, spec)
    policy = spec["template"]["spec"].get("restartPolicy")
    if policy == "Always":
        yield required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')


def budget(_kind: ApiResource, obj: Object) -> Iterator[Cause]:
    """Check a PodDisruptionBudget."""
    spec = obj.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        yield wrong("spec", "...", "minAvailable and maxUnavailable cannot be both set")
    yield from count_or_percent(least, "spec.minAvailable")
    yield from count_or_percent(most, "spec.maxUnavailable")
    yield from selector(spec.get("selector"), "spec.selector")
    if spec.get("unhealthyPodEvictionPolicy") is not None:
        yield from one_of(spec["unhealthyPodEvictionPolicy"], _UNHEALTHY, "spec.unhealthyPodEvictionPolicy")


def pod_group(_kind: ApiResource, obj: Object) -> Iterator[Cause]:
    """Check a PodGroup."""
    spec = obj["spec"]
    policy, mode = spec.get("schedulingPolicy") or {}, spec["disruptionMode"] or {}
    yield from _exactly_one(policy, ("basic", "gang"), "spec.schedulingPolicy")
    yield from _exactly_one(mode, ("single", "all"), "spec.disruptionMode")
    if policy.get("gang") is not None:
        path = "spec.schedulingPolicy.gang.minCount"
        least = integer(policy["gang"].get("minCount"), path)
        if not least:
            yield required(path)
        elif least < 0:
            yield wrong(path, least, "must be greater than or equal to 1")


def _exactly_one(union: Object, fields: tuple[str, ...], path: str) -> Iterator[Cause]:
    present = [field for field in fields if union.get(field) is not None]
    known = ", ".join(f"`{field}`" for field in fields)
    if not present:
        yield wrong(path, "", f"must specify one of: {known}")
    elif len(present) > 1:
        yield wrong(path, f"{{{', '.join(present)}}}", f"must specify exactly one of: {known}")


def _template(kind: ApiResource, spec: Object) -> Iterator[Cause]:
    """Check the selector and the pod template, whose labels the selector must match."""
    template_labels, path = (
        (spec["template"].get("metadata") or {}).get("labels") or {},
        "spec.template.metadata.labels",
    )
    causes = [*selector(spec.get("selector"), "spec.selector"), *labels(template_labels, path)]
    if not causes and spec.get("selector") and not match_labels(spec["selector"], template_labels):
        causes.append(wrong(path, str(template_labels), "`selector` does not match template `labels`"))
    yield from causes
    yield from pods.spec(kind, spec["template"]["spec"], "spec.template.spec")
