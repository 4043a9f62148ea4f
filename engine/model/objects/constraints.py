"""Scheduling constraints of pods and nodes: taints, tolerations, affinity, host ports and topology spread."""

import msgspec


class Taint(msgspec.Struct, frozen=True, gc=False):
    key: str
    value: str = ""
    effect: str = "NoSchedule"


class Toleration(msgspec.Struct, frozen=True, gc=False):
    """A toleration of taints. An empty key tolerates every taint, an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One expression of a selector. ``operator`` is In, NotIn, Exists or DoesNotExist; for nodes also Gt or Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class NodeSelectorTerm(msgspec.Struct, frozen=True, gc=False):
    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


class PreferredTerm(msgspec.Struct, frozen=True, gc=False):
    """A term of preferred node affinity: nodes that match it get ``weight`` (1 to 100) more."""

    weight: int
    term: NodeSelectorTerm


ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - Kubernetes' word for every address


class HostPort(msgspec.Struct, frozen=True, gc=False):
    port: int
    protocol: str = "TCP"
    ip: str = ANY_ADDRESS


Selector = tuple[Requirement, ...] | None
"""A label selector. All requirements must be met, so an empty tuple matches everything; None matches nothing."""


class AffinityTerm(msgspec.Struct, frozen=True, gc=False):
    """A term that selects pods in one topology (a node, a zone) by their labels and namespace."""

    topology_key: str
    selector: Selector = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: Selector = None
    """Selects further namespaces by their labels."""


class SpreadConstraint(msgspec.Struct, frozen=True, gc=False):
    """How much the numbers of matching pods of the same namespace may differ between topologies."""

    topology_key: str
    max_skew: int = 1
    selector: Selector = None
    min_domains: int = 1
    honor_affinity: bool = True
    """Whether nodes that the pod's own node selector or affinity excludes are left out of the count."""
    honor_taints: bool = False
    """Whether nodes with taints that the pod does not tolerate are left out of the count."""
