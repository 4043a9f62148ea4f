"""Writing of the placement rules of pods, from the engine's types to the fields of a manifest."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from engine.formats.kubernetes.constraints import MATCHES_NOTHING, MOST_TERMS
from engine.model.objects import AffinityTerm, HostPort, NodeSelectorTerm, Pod, Requirement, Selector, Toleration

Object = dict[str, Any]
"""A Kubernetes object or a part of it, in JSON's types."""

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def omit_empty(**said: Any) -> Object:
    """Return the fields without empty values; zero counts as a value."""
    return {name: value for name, value in said.items() if value or (value == 0 and value is not False)}


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
    written = [
        omit_empty(matchExpressions=expressions(term.expressions), matchFields=expressions(term.fields))
        for term in terms
    ]
    return {"nodeSelectorTerms": written}


def tolerations(found: Iterable[Toleration]) -> list[Object]:
    """Return the tolerations of a pod as they are in a manifest."""
    return [omit_empty(key=one.key, operator=one.operator, value=one.value, effect=one.effect) for one in found]


def ports(found: Iterable[HostPort]) -> list[Object]:
    """Return the ports of the node that a container occupies."""
    return [
        {"containerPort": one.port, "hostPort": one.port, "protocol": one.protocol, "hostIP": one.ip} for one in found
    ]


def affinity(pod: Pod) -> Object:
    """Return the affinity of a pod to nodes and to other pods; empty if it has none."""
    nodes = node_selector(pod.node_affinity)
    return omit_empty(
        nodeAffinity=nodes and {REQUIRED: nodes},
        podAffinity=pod.affinity and {REQUIRED: [_term(one) for one in pod.affinity]},
        podAntiAffinity=pod.anti_affinity and {REQUIRED: [_term(one) for one in pod.anti_affinity]},
    )


def _term(term: AffinityTerm) -> Object:
    selectors = {"labelSelector": selector(term.selector), "namespaceSelector": selector(term.namespace_selector)}
    named = {name: given for name, given in selectors.items() if given is not None}
    return omit_empty(topologyKey=term.topology_key, namespaces=list(term.namespaces)) | named


def spread(pod: Pod) -> list[Object]:
    """Return the spread constraints of a pod.

    For a pod with more rules than can be evaluated, optional constraints are added until the written pod has too many
    rules as well.
    """
    kept = [
        omit_empty(
            topologyKey=one.topology_key,
            maxSkew=one.max_skew,
            whenUnsatisfiable="DoNotSchedule",
            minDomains=one.min_domains,
            nodeAffinityPolicy="Honor" if one.honor_affinity else "Ignore",
            nodeTaintsPolicy="Honor" if one.honor_taints else "Ignore",
        )
        | ({} if (labels := selector(one.selector)) is None else {"labelSelector": labels})
        for one in pod.spread
    ]
    return [*kept, *_filler_constraints(pod)]


def _filler_constraints(pod: Pod) -> Iterator[Object]:
    """Yield optional constraints as a substitute for rules of which only the number was read."""
    if "affinity" in pod.unread_rules:
        there = len(pod.spread) + len(pod.affinity) + len(pod.anti_affinity)
        for _ in range(there, MOST_TERMS + 1):
            yield {"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}


def metadata(name: str, *, namespace: str = "", uid: str = "", **said: Any) -> Object:
    """Return the metadata of an object: its identity and any other non-empty fields."""
    return omit_empty(name=name, namespace=namespace, uid=uid, **said)


def texts(given: Mapping[str, str]) -> dict[str, str]:
    """Return labels or annotations ordered by key."""
    return dict(sorted(given.items()))
