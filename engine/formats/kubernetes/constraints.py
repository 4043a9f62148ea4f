"""Conversion of the placement rules of pods from their wire form to the types that policies use."""

from collections.abc import Mapping

from engine.formats.kubernetes.interning import shared
from engine.formats.kubernetes.wire import (
    Affinity,
    ContainerPort,
    LabelSelector,
    NodeSelector,
    PodAffinity,
    PodSpec,
    PodVolume,
    PreferredNodeTerm,
    SelectorExpression,
    SelectorTerm,
    TolerationObject,
    TopologySpread,
)
from engine.model.objects import (
    ANY_ADDRESS,
    AffinityTerm,
    HostPort,
    NodeSelectorTerm,
    PreferredTerm,
    Requirement,
    Selector,
    SpreadConstraint,
    Toleration,
)

MATCHES_NOTHING = Requirement("", "In", ())
MOST_TERMS = 100
"""Largest number of a pod's rules about other pods; a pod with more is not judged, because it would delay all others.
"""


def _requirements(expressions: tuple[SelectorExpression, ...] | None) -> tuple[Requirement, ...]:
    return tuple(Requirement(rule.key, rule.operator, rule.values or ()) for rule in expressions or ())


@shared
def _sorted(items: tuple[tuple[str, str], ...]) -> tuple[Requirement, ...]:
    return tuple(Requirement(key, "In", (value,)) for key, value in items)


def selector(label_selector: LabelSelector | None) -> Selector:
    """Convert a label selector: a missing one matches nothing, an empty one everything."""
    if label_selector is None:
        return None
    return _sorted(tuple((label_selector.match_labels or {}).items())) + _requirements(label_selector.match_expressions)


@shared
def node_terms(node_selector: NodeSelector) -> tuple[NodeSelectorTerm, ...]:
    """Convert terms of which at least one must match a node; a missing list and an empty term match no node."""
    terms = tuple(map(_node_term, node_selector.node_selector_terms or ()))
    return terms or (NodeSelectorTerm(),)


def node_affinity(rules: Affinity) -> tuple[NodeSelectorTerm, ...]:
    """Return the required node affinity terms; empty if the pod has no required node affinity."""
    affinity = rules.node_affinity
    return () if affinity is None or affinity.required is None else node_terms(affinity.required)


def preferred_affinity(rules: Affinity) -> tuple[PreferredTerm, ...]:
    """Return the preferred node affinity terms."""
    return _preferred(rules.node_affinity.preferred) if rules.node_affinity and rules.node_affinity.preferred else ()


@shared
def _preferred(terms: tuple[PreferredNodeTerm, ...]) -> tuple[PreferredTerm, ...]:
    return tuple(PreferredTerm(term.weight, _node_term(term.preference)) for term in terms)


def _node_term(term: SelectorTerm) -> NodeSelectorTerm:
    return NodeSelectorTerm(_requirements(term.match_expressions), _requirements(term.match_fields))


@shared
def tolerations(objects: tuple[TolerationObject, ...]) -> tuple[Toleration, ...]:
    """Convert the tolerations of a pod, with defaults filled in."""
    return tuple(
        Toleration(
            toleration.key or "", toleration.operator or "Equal", toleration.value or "", toleration.effect or ""
        )
        for toleration in objects
    )


def host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    """Return the ports of its node that a pod occupies, including those of its sidecars."""
    running = [
        *(spec.containers or ()),
        *[init_container for init_container in spec.init_containers or () if init_container.sidecar],
    ]
    ports = tuple([port for container in running for port in container.ports or ()])
    return _on_host(ports, bool(spec.host_network)) if ports else ()


@shared
def _on_host(ports: tuple[ContainerPort, ...], host_network: bool) -> tuple[HostPort, ...]:
    ports_on_host = []
    for port in ports:
        # On the host network a container port is also a host port, as the API server fills in.
        number = port.host_port or (port.container_port if host_network else None)
        if number:
            ports_on_host.append(HostPort(number, port.protocol or "TCP", port.host_ip or ANY_ADDRESS))
    return tuple(ports_on_host)


def affinity_terms(rules: PodAffinity | None, namespace: str) -> tuple[AffinityTerm, ...]:
    """Convert the required terms of a pod affinity; a term without namespaces refers to the pod's own namespace.

    The selector already includes matchLabelKeys: the API server adds them.
    """
    return tuple(
        AffinityTerm(
            topology_key=term.topology_key or "",
            selector=selector(term.label_selector),
            namespaces=term.namespaces or ((namespace,) if term.namespace_selector is None else ()),
            namespace_selector=selector(term.namespace_selector),
        )
        for term in (rules.required if rules else None) or ()
    )


def spread_constraints(
    constraints: tuple[TopologySpread, ...] | None, labels: Mapping[str, str]
) -> tuple[SpreadConstraint, ...]:
    """Convert the mandatory spread constraints of a pod; its labels complete the selectors as matchLabelKeys demand."""
    return tuple(
        SpreadConstraint(
            topology_key=constraint.topology_key or "",
            max_skew=1 if constraint.max_skew is None else constraint.max_skew,
            selector=_with_labels(selector(constraint.label_selector), constraint.match_label_keys, labels),
            min_domains=1 if constraint.min_domains is None else constraint.min_domains,
            honor_affinity=constraint.node_affinity_policy != "Ignore",
            honor_taints=constraint.node_taints_policy == "Honor",
        )
        for constraint in constraints or ()
        if constraint.when_unsatisfiable != "ScheduleAnyway"
    )


def _with_labels(base: Selector, keys: tuple[str, ...] | None, labels: Mapping[str, str]) -> Selector:
    if base is None or not keys:
        return base
    return _sorted(tuple((key, labels[key]) for key in keys if key in labels)) + base


def unread_rules(spec: PodSpec) -> tuple[str, ...]:
    """Return the names of a pod's rules that can't be evaluated here, or only at unreasonable cost."""
    rules = {
        "affinity": _terms(spec) > MOST_TERMS,
        "volumes": any(_conflicts(volume) for volume in spec.volumes or ()),
        "resourceClaims": bool(spec.resource_claims),
    }
    return tuple(name for name, present in rules.items() if present)


def _terms(spec: PodSpec) -> int:
    """Return the number of the pod's rules that depend on other pods."""
    affinity = spec.affinity
    kinds = (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else ()
    return len(spec.topology_spread_constraints or ()) + sum(len(terms.required or ()) for terms in kinds if terms)


def _conflicts(volume: PodVolume) -> bool:
    """Return whether a volume may keep two pods apart.

    Current clusters have volumes of these kinds as PersistentVolumes.
    """
    kinds = (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.iscsi, volume.rbd)
    return any(kind is not None for kind in kinds)
