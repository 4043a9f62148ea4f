"""Decides which pods a ResourceQuota covers. Source: pkg/quota/v1/evaluator/core/pods.go of Kubernetes 1.36."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def covers(quota: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """Return whether a quota covers a pod: every scope of the quota must match; without scopes it covers all."""
    return all(_matches(rule, pod) for rule in _rules(quota))


def _rules(quota: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    spec = quota.get("spec") or {}
    for name in spec.get("scopes") or ():
        yield {"scopeName": name, "operator": "Exists"}
    yield from (spec.get("scopeSelector") or {}).get("matchExpressions") or ()


def _matches(rule: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    spec = pod["spec"]
    match rule.get("scopeName"):
        case "PriorityClass":
            return _of_class(rule, spec.get("priorityClassName") or "")
        case "Terminating":
            return spec.get("activeDeadlineSeconds") is not None
        case "NotTerminating":
            return spec.get("activeDeadlineSeconds") is None
        case "BestEffort":
            return _best_effort(pod)
        case "NotBestEffort":
            return not _best_effort(pod)
        case "CrossNamespacePodAffinity":
            return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in _terms(spec))
    return False


def _best_effort(pod: Mapping[str, Any]) -> bool:
    qos_class: str = pod["status"].get("qosClass", "")
    return qos_class == "BestEffort"


def _of_class(rule: Mapping[str, Any], name: str) -> bool:
    """Return whether a class matches as in a label selector: a pod without a class matches no value."""
    values: list[str] = rule.get("values") or []
    known: dict[str, bool] = {
        "Exists": name != "",
        "DoesNotExist": name == "",
        "In": name in values,
        "NotIn": name not in values,
    }
    return known.get(rule.get("operator", ""), False)


def _terms(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the pod's terms of pod affinity and pod anti-affinity, required and preferred."""
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = (spec.get("affinity") or {}).get(kind) or {}
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield weighted.get("podAffinityTerm") or {}
