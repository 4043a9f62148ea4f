"""Writing of the placement rules of pods, from the engine's types to the fields of a manifest."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from engine.formats.kubernetes.constraints import MATCHES_NOTHING, MOST_TERMS
from engine.model.objects import AffinityTerm, HostPort, NodeSelectorTerm, Pod, Requirement, Selector, Toleration

Object = dict[str, Any]
"""A Kubernetes object or a part of it, in JSON's types."""

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def omit_empty(**fields: Any) -> Object:
    """Return the fields without empty values; zero counts as a value."""
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}


def time_of(ms: int | None) -> str | None:
    """Format milliseconds since 1970 as a time of RFC 3339 in UTC; None stays None."""
    if ms is None:
        return None
    at = datetime.fromtimestamp(ms // 1000, UTC).replace(microsecond=ms % 1000 * 1000)
    return at.isoformat(timespec="milliseconds" if ms % 1000 else "seconds").replace("+00:00", "Z")


def expressions(rules: Iterable[Requirement]) -> list[Object]:
    """Return the expressions of a selector as they are in a manifest."""
    return [omit_empty(key=rule.key, operator=rule.operator, values=list(rule.values)) for rule in rules]


def selector(rules: Selector) -> Object | None:
    """Return a label selector: empty if it matches everything, None if it matches nothing."""
    if rules is None or rules == (MATCHES_NOTHING,):
        return None
    return omit_empty(matchExpressions=expressions(rules))


def node_selector(terms: tuple[NodeSelectorTerm, ...]) -> Object | None:
    """Return the required terms as a node selector; None if there are no terms."""
    if not terms:
        return None
    return {"nodeSelectorTerms": list(map(_node_term, terms))}


def _node_term(term: NodeSelectorTerm) -> Object:
    return omit_empty(matchExpressions=expressions(term.expressions), matchFields=expressions(term.fields))


def tolerations(items: Iterable[Toleration]) -> list[Object]:
    """Return the tolerations of a pod as they are in a manifest."""
    return [
        omit_empty(key=toleration.key, operator=toleration.operator, value=toleration.value, effect=toleration.effect)
        for toleration in items
    ]


def ports(host_ports: Iterable[HostPort]) -> list[Object]:
    """Return the ports of the node that a container occupies."""
    return [
        {"containerPort": port.port, "hostPort": port.port, "protocol": port.protocol, "hostIP": port.ip}
        for port in host_ports
    ]


def affinity(pod: Pod) -> Object:
    """Return the affinity of a pod to nodes and to other pods; empty if it has none."""
    nodes = node_selector(pod.node_affinity)
    preferred = [
        {"weight": preferred.weight, "preference": _node_term(preferred.term)} for preferred in pod.preferred_affinity
    ]
    return omit_empty(
        nodeAffinity=omit_empty(**{REQUIRED: nodes, PREFERRED: preferred}),
        podAffinity=pod.affinity and {REQUIRED: [_term(term) for term in pod.affinity]},
        podAntiAffinity=pod.anti_affinity and {REQUIRED: [_term(term) for term in pod.anti_affinity]},
    )


def _term(term: AffinityTerm) -> Object:
    selectors = {"labelSelector": selector(term.selector), "namespaceSelector": selector(term.namespace_selector)}
    present = {name: label_selector for name, label_selector in selectors.items() if label_selector is not None}
    return omit_empty(topologyKey=term.topology_key, namespaces=list(term.namespaces)) | present


def spread(pod: Pod) -> list[Object]:
    """Return the spread constraints of a pod.

    For a pod with more rules than can be evaluated, optional constraints are added until the written pod has too many
    rules as well.
    """
    constraints = [
        omit_empty(
            topologyKey=constraint.topology_key,
            maxSkew=constraint.max_skew,
            whenUnsatisfiable="DoNotSchedule",
            minDomains=constraint.min_domains,
            nodeAffinityPolicy="Honor" if constraint.honor_affinity else "Ignore",
            nodeTaintsPolicy="Honor" if constraint.honor_taints else "Ignore",
        )
        | ({} if (labels := selector(constraint.selector)) is None else {"labelSelector": labels})
        for constraint in pod.spread
    ]
    return [*constraints, *_filler_constraints(pod)]


def _filler_constraints(pod: Pod) -> Iterator[Object]:
    """Yield optional constraints as a substitute for rules of which only the number was read."""
    if "affinity" in pod.unread_rules:
        known_rules = len(pod.spread) + len(pod.affinity) + len(pod.anti_affinity)
        for _ in range(known_rules, MOST_TERMS + 1):
            yield {"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}


def metadata(name: str, *, namespace: str = "", uid: str = "", **fields: Any) -> Object:
    """Return the metadata of an object: its identity and any other non-empty fields."""
    return omit_empty(name=name, namespace=namespace, uid=uid, **fields)


def texts(values: Mapping[str, str]) -> dict[str, str]:
    """Return labels or annotations ordered by key."""
    return dict(sorted(values.items()))
