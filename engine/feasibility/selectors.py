"""Evaluates selectors, affinity terms and tolerations on labels, nodes and taints."""

import re
from collections.abc import Iterable, Mapping

from engine.model.objects import AffinityTerm, Node, NodeSelectorTerm, Pod, Requirement, Selector, Taint, Toleration

UNSCHEDULABLE_TAINT = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_LARGEST = 2**63 - 1


def matches(expressions: Iterable[Requirement], labels: Mapping[str, str]) -> bool:
    """Return whether labels match every expression, as apimachinery's label selectors evaluate it.

    Source: Requirement.Matches of k8s.io/apimachinery, pkg/labels.
    """
    return all(_meets(expression, labels.get(expression.key)) for expression in expressions)


def selects(selector: Selector, labels: Mapping[str, str]) -> bool:
    """Return whether labels match a selector; None matches nothing.

    Source: LabelSelectorAsSelector of k8s.io/apimachinery, pkg/apis/meta/v1.
    """
    return selector is not None and matches(selector, labels)


def _meets(rule: Requirement, value: str | None) -> bool:
    match rule.operator:
        case "In":
            return value in rule.values
        case "NotIn":
            return value not in rule.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compares(rule, value)
        case _:
            return False


def _compares(rule: Requirement, value: str | None) -> bool:
    have, want = _integer(value or ""), _integer(rule.values[0] if rule.values else "")
    if have is None or want is None:
        return False
    return have > want if rule.operator == "Gt" else have < want


def _integer(text: str) -> int | None:
    """Return the integer that Go's ParseInt reads from a text: plain digits, within 64 bits. Otherwise return None."""
    if _INTEGER.fullmatch(text) is None or not -_LARGEST - 1 <= int(text) <= _LARGEST:
        return None
    return int(text)


def term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    """Return whether a node matches a term; an empty term matches no node."""
    if not term.expressions and not term.fields:
        return False
    return matches(term.expressions, node.labels) and matches(term.fields, {"metadata.name": node.name})


def wants_node(pod: Pod, node: Node) -> bool:
    """Return whether a node matches the pod's node selector and required node affinity.

    Source: GetRequiredNodeAffinity of k8s.io/component-helpers, scheduling/corev1/nodeaffinity.
    """
    if any(node.labels.get(key) != value for key, value in pod.node_selector.items()):
        return False
    return not pod.node_affinity or any(term_matches(term, node) for term in pod.node_affinity)


def term_selects(term: AffinityTerm, namespace: str, labels: Mapping[str, str], about: Mapping[str, str]) -> bool:
    """Return whether a term selects a pod with this namespace and labels; ``about``: the namespace's labels."""
    return (namespace in term.namespaces or selects(term.namespace_selector, about)) and selects(term.selector, labels)


def first_untolerated(tolerations: Iterable[Toleration], taints: Iterable[Taint]) -> Taint | None:
    """Return the first taint that keeps new pods away and is not tolerated, or None.

    Source: FindMatchingUntoleratedTaint of k8s.io/component-helpers, scheduling/corev1.
    """
    repelling = (taint for taint in taints if taint.effect in ("NoSchedule", "NoExecute"))
    return next((taint for taint in repelling if not tolerated(taint, tolerations)), None)


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Return whether at least one of the tolerations covers the taint."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    # Source: Toleration.ToleratesTaint of k8s.io/api, core/v1.
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    return toleration.operator == "Exists" or (toleration.operator == "Equal" and toleration.value == taint.value)
