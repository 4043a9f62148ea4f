"""Rules of pods and nodes on who may run where."""

import msgspec


class Taint(msgspec.Struct, frozen=True, gc=False):
    key: str
    value: str = ""
    effect: str = "NoSchedule"


class Toleration(msgspec.Struct, frozen=True, gc=False):
    """An empty key tolerates every taint; an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One expression of a selector; ``operator`` is In, NotIn, Exists, DoesNotExist, and for nodes Gt or Lt too."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class NodeSelectorTerm(msgspec.Struct, frozen=True, gc=False):
    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - Kubernetes' word for every address


class HostPort(msgspec.Struct, frozen=True, gc=False):
    port: int
    protocol: str = "TCP"
    ip: str = ANY_ADDRESS


Selector = tuple[Requirement, ...] | None
"""Of labels: all must be met, so that none at all is met by everything; None is met by nothing."""


class AffinityTerm(msgspec.Struct, frozen=True, gc=False):
    """Pods of one topology (a node, a zone), meant by their labels and namespace."""

    topology_key: str
    selector: Selector = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: Selector = None
    """Meets the labels of further namespaces."""


class SpreadConstraint(msgspec.Struct, frozen=True, gc=False):
    """Pods of the same namespace, counted by topology: how far the counts may lie apart."""

    topology_key: str
    max_skew: int = 1
    selector: Selector = None
    min_domains: int = 1
    honor_affinity: bool = True
    """Nodes that the pod's own node selector or affinity rules out are not counted."""
    honor_taints: bool = False
    """Nor are those with taints that it does not tolerate."""
