"""Reads of nodes and their pods, as the last pass stored them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from django.http import Http404

from engine.model.quantities import CPU, PODS, Amounts
from engine.model.snapshot.node_listing import ListedNode, ListedPod
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.pods import own_asks
from scheduler_admin.nodes.models import NodePods, PodPlace
from scheduler_admin.nodes.services import application_key, pods_in

STATES: Mapping[str, Callable[[ListedNode], bool]] = {
    "ready": lambda node: node.there and node.ready and not node.unschedulable,
    "not-ready": lambda node: node.there and not node.ready,
    "cordoned": lambda node: node.there and node.unschedulable,
    "tainted": lambda node: bool(node.taints),
    "gone": lambda node: not node.there,
}
_FACTS = msgspec.json.Decoder(ListedNode)


@dataclass(frozen=True)
class ToldPod:
    """A listed pod with what decisions say of it, as far as its reader may know them."""

    pod: ListedPod
    taken_by: int | None
    """The open decision that has chosen it as a victim."""
    asked_in: bool
    """Whether a decision tells why it waits, or waited."""


def nodes_of(user: Who, cluster: Cluster) -> list[ListedNode]:
    """Every node, by name. Raises Http404 for those who don't see everything: pods on nodes are everybody's."""
    if not scope_of(user, "view").everything:
        raise Http404
    rows = NodePods.objects.restrict(user, "view").nodes().filter(cluster=cluster).order_by("name")
    return [_FACTS.decode(facts) for facts in rows.values_list("facts", flat=True)]


def node_of(user: Who, cluster: Cluster, name: str) -> tuple[ListedNode, list[ListedPod]]:
    """One node with its pods, by namespace and name. Raises Http404, also for those who don't see everything."""
    if not scope_of(user, "view").everything:
        raise Http404
    rows = NodePods.objects.restrict(user, "view").nodes().filter(cluster=cluster, name=name)
    row = rows.values_list("facts", "pods").first()
    if row is None:
        raise Http404
    return _FACTS.decode(row[0]), pods_in(bytes(row[1]))


def sifted(nodes: Iterable[ListedNode], *, text: str = "", state: str = "") -> list[ListedNode]:
    """Those whose name or taints hold a text, and that are in one of STATES."""
    fits = STATES.get(state)
    return [
        node
        for node in nodes
        if (not text or text in node.name or any(text in taint for taint in node.taints))
        and (fits is None or fits(node))
    ]


def resources_of(nodes: Iterable[ListedNode]) -> list[str]:
    """cpu, memory and the others that nodes have; what the kubelet keeps of its own disk only where it is requested."""
    every = list(nodes)
    names = {name for node in every for name, amount in node.allocatable.items() if amount} - {PODS}
    asked = {name for node in every for name, amount in node.used.items() if amount} - {PODS}
    aside = {name for name in names if name == "ephemeral-storage" or name.startswith("hugepages-")}
    names = (names - aside) | asked
    return [name for name in (CPU, "memory") if name in names] + sorted(names - {CPU, "memory"})


def share(node: ListedNode, resource: str) -> float:
    """How much of a resource is used; 0 where the node has none and nothing is used, else without end."""
    used, whole = node.used.get(resource, 0), node.allocatable.get(resource, 0)
    if not whole:
        return float("inf") if used else 0.0
    return used / whole


def fullest(node: ListedNode) -> float:
    """The largest share of any resource that is used."""
    return max((share(node, name) for name in node.allocatable.keys() | node.used.keys()), default=0.0)


def pods_of(user: Who, cluster: Cluster, namespace: str, application: str, queue: str = "") -> list[ListedPod]:
    """The pods of an application that the user may see, by name; of one queue alone where one is named. Two queries.

    Only rows of nodes that have its pods are read. Raises Http404 where the namespace is not the user's.
    """
    scope = scope_of(user, "view")
    if not scope.everything and scope.namespaces is not None and namespace not in scope.namespaces:
        raise Http404
    looked_up = PodPlace.objects.filter(cluster=cluster, namespace=namespace, application=application_key(application))
    places = sorted(set(looked_up.order_by().values_list("place", flat=True)))
    pods = [one for blob in _blobs(cluster, places) for one in pods_in(blob)]
    return sorted(
        (
            one
            for one in pods
            if (one.namespace, one.application) == (namespace, application)
            and (not queue or one.queue == queue)
            and scope.has_pod(one.namespace, one.queue or "")
        ),
        key=lambda one: (one.name, one.uid),
    )


_AT_ONCE = 400
"""Values of one query, as SQLite takes them wherever it was built."""


def _blobs(cluster: Cluster, names: list[str]) -> Iterable[bytes]:
    for at in range(0, len(names), _AT_ONCE):
        rows = NodePods.objects.filter(cluster=cluster, name__in=names[at : at + _AT_ONCE]).order_by()
        yield from map(bytes, rows.values_list("pods", flat=True))


def told(user: Who, cluster: Cluster, pods: Sequence[ListedPod]) -> list[ToldPod]:
    """Pods that are shown, with what decisions say of them. Three queries; of more than 400 pods some more."""
    opened = list(Decision.objects.filter(cluster=cluster).open().values_list("pk", flat=True))
    taken: dict[str, int] = {}
    asked: set[str] = set()
    for at in range(0, len(pods), _AT_ONCE):
        uids = [one.uid for one in pods[at : at + _AT_ONCE]]
        victims = Victim.objects.restrict(user, "view").filter(decision__in=opened, uid__in=uids)
        taken |= dict(victims.order_by("pk").values_list("uid", "decision_id"))
        asks = own_asks(user).filter(cluster=cluster, ask_uid__in=uids)
        asked |= set(asks.values_list("ask_uid", flat=True).order_by().distinct())
    return [ToldPod(one, taken.get(one.uid), one.uid in asked) for one in pods]


def totals(pods: Iterable[ListedPod]) -> Amounts:
    """What those of them request that are on a node."""
    found: dict[str, int] = {}
    for one in pods:
        for name, amount in one.requests.items() if one.node is not None else ():
            found[name] = found.get(name, 0) + amount
    return found
