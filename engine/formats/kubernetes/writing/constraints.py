"""Rules of who may run where, back from the engine's types to what a manifest says."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from engine.formats.kubernetes.constraints import MATCHES_NOTHING, MOST_TERMS
from engine.model.objects import AffinityTerm, HostPort, NodeSelectorTerm, Pod, Requirement, Selector, Toleration

Object = dict[str, Any]
"""A Kubernetes object, or a part of one, in JSON's types."""

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def sparse(**said: Any) -> Object:
    """What is said, without what says nothing. Zero says something."""
    return {name: value for name, value in said.items() if value or (value == 0 and value is not False)}


def time_of(ms: int | None) -> str | None:
    """Milliseconds since 1970 in the form of RFC 3339, in UTC."""
    if ms is None:
        return None
    at = datetime.fromtimestamp(ms // 1000, UTC).replace(microsecond=ms % 1000 * 1000)
    return at.isoformat(timespec="milliseconds" if ms % 1000 else "seconds").replace("+00:00", "Z")


def expressions(rules: Iterable[Requirement]) -> list[Object]:
    """The expressions of a selector."""
    return [sparse(key=rule.key, operator=rule.operator, values=list(rule.values)) for rule in rules]


def selector(rules: Selector) -> Object | None:
    """A label selector: one that is met by everything says nothing, of one that is met by nothing there is none."""
    if rules is None or rules == (MATCHES_NOTHING,):
        return None
    return sparse(matchExpressions=expressions(rules))


def node_selector(terms: tuple[NodeSelectorTerm, ...]) -> Object | None:
    """Required terms, None where there are none."""
    if not terms:
        return None
    written = [
        sparse(matchExpressions=expressions(term.expressions), matchFields=expressions(term.fields)) for term in terms
    ]
    return {"nodeSelectorTerms": written}


def tolerations(found: Iterable[Toleration]) -> list[Object]:
    """A pod's tolerations."""
    return [sparse(key=one.key, operator=one.operator, value=one.value, effect=one.effect) for one in found]


def ports(found: Iterable[HostPort]) -> list[Object]:
    """The ports of its node that a container takes."""
    return [
        {"containerPort": one.port, "hostPort": one.port, "protocol": one.protocol, "hostIP": one.ip} for one in found
    ]


def affinity(pod: Pod) -> Object:
    """All that a pod says of nodes and of other pods; empty where it says nothing."""
    nodes = node_selector(pod.node_affinity)
    return sparse(
        nodeAffinity=nodes and {REQUIRED: nodes},
        podAffinity=pod.affinity and {REQUIRED: [_term(one) for one in pod.affinity]},
        podAntiAffinity=pod.anti_affinity and {REQUIRED: [_term(one) for one in pod.anti_affinity]},
    )


def _term(term: AffinityTerm) -> Object:
    selectors = {"labelSelector": selector(term.selector), "namespaceSelector": selector(term.namespace_selector)}
    named = {name: given for name, given in selectors.items() if given is not None}
    return sparse(topologyKey=term.topology_key, namespaces=list(term.namespaces)) | named


def spread(pod: Pod) -> list[Object]:
    """The constraints of a pod; where it had more rules than can be judged, so many that it has them again."""
    kept = [
        sparse(
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
    return [*kept, *_wishes(pod)]


def _wishes(pod: Pod) -> Iterator[Object]:
    """Constraints that need not be kept: of these only the number was read."""
    if "affinity" in pod.unread_rules:
        there = len(pod.spread) + len(pod.affinity) + len(pod.anti_affinity)
        for _ in range(there, MOST_TERMS + 1):
            yield {"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}


def metadata(name: str, *, namespace: str = "", uid: str = "", **said: Any) -> Object:
    """What identifies an object, and whatever else its metadata says."""
    return sparse(name=name, namespace=namespace, uid=uid, **said)


def texts(given: Mapping[str, str]) -> dict[str, str]:
    """Labels or annotations, in the order of their keys."""
    return dict(sorted(given.items()))
