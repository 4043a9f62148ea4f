"""What the pages of nodes, of one node and of an application show, put together from the selectors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from engine.model.snapshot.node_listing import ListedNode, ListedPod, PodPhase
from scheduler_admin.accounts.link_templates import FilledLink
from scheduler_admin.accounts.models import Site
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.accounts.selectors import site
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.paging import numbered
from scheduler_admin.core.words import Unit
from scheduler_admin.decisions.presenters.tool_links import application_links, listed_pod_links, node_links
from scheduler_admin.nodes.selectors import (
    STATES,
    ToldPod,
    fullest,
    node_of,
    nodes_of,
    pods_of,
    resources_of,
    share,
    sifted,
    told,
    totals,
)

_NEARLY = 0.9
"""From here on a node is nearly full."""
_NODE_ORDERS: Mapping[str, Callable[[ListedNode], Any]] = {
    "name": lambda node: node.name,
    "full": lambda node: -fullest(node),
    "free": fullest,
    "pods": lambda node: -node.pods,
}
_POD_ORDERS: Mapping[str, Callable[[ListedPod], Any]] = {
    "name": lambda pod: (pod.name, pod.namespace),
    "application": lambda pod: (pod.namespace, pod.application),
    "queue": lambda pod: pod.queue or "",
    "node": lambda pod: pod.node or "",
    "priority": lambda pod: -pod.priority,
    "since": lambda pod: pod.since_ms,
}
Word = tuple[str, str]
"""A kind of state and its word."""


@dataclass(frozen=True)
class Sift:
    """What is shown, and in what order, as the address says it. Words that are unknown count as not said."""

    text: str
    state: str
    order: str
    backwards: bool

    @classmethod
    def read(cls, query: QueryDict) -> "Sift":
        """From a page's query."""
        state, order = query.get("state", ""), query.get("sort", "")
        return cls(
            text=query.get("q", "").strip(),
            state=state if state in STATES else "",
            order=order.removeprefix("-"),
            backwards=order.startswith("-"),
        )

    @property
    def filtering(self) -> bool:
        """Whether anything is left out."""
        return bool(self.text or self.state)


@dataclass(frozen=True)
class Lane:
    """A resource of a node."""

    unit: Unit
    used: int
    whole: int
    part: str
    """In per cent."""


@dataclass(frozen=True)
class NodeLine:
    """A node in the list, and on its own page."""

    node: ListedNode
    states: list[Word]
    fill: Word
    lanes: list[Lane]


@dataclass(frozen=True)
class PodLine:
    """A pod in a list."""

    told: ToldPod
    state: Word
    application: str
    """The address of its application's page."""
    amounts: list[tuple[Unit, int | None]]
    links: list[FilledLink]
    """Links to other tools, such as its logs."""


def application_address(cluster: str, namespace: str, application: str, queue: str = "") -> str:
    """Of the page of an application's pods."""
    query = {"namespace": namespace, "application": application} | ({"queue": queue} if queue else {})
    return f"{reverse('web:application', args=[cluster])}?{urlencode(query)}"


def nodes_page(user: Who, cluster: Cluster, query: QueryDict) -> dict[str, Any]:
    """Every node with what it has and what is used of it. Raises Http404 for a stranger."""
    every, sift = nodes_of(user, cluster), Sift.read(query)
    names = resources_of(every)
    by = _NODE_ORDERS.get(sift.order, _NODE_ORDERS["name"])
    found = sorted(sifted(every, text=sift.text, state=sift.state), key=by, reverse=sift.backwards)
    shown, paged = numbered(found, query)
    units = _units(names, shown)
    return {
        "sift": sift,
        "lines": [_line(node, units) for node in shown],
        "paged": paged,
        "nodes": len(every),
        "ready": len(sifted(every, state="ready")),
        "states": [(name, _state_word(name)) for name in STATES],
        "orders": [
            ("", _("name")),
            ("full", _("fullest first")),
            ("free", _("emptiest first")),
            ("pods", _("most pods first")),
        ],
        "by_column": bool(sift.order) and (sift.order not in ("full", "free", "pods") or sift.backwards),
    }


def node_page(user: Who, cluster: Cluster, name: str, query: QueryDict) -> dict[str, Any]:
    """One node with its pods. Raises Http404."""
    node, pods = node_of(user, cluster, name)
    line, settings = _line(node, _units(resources_of([node]), [node])), site()
    links = node_links(settings, cluster.name, node.name)
    return {"line": line, "links": links, **_pods(user, cluster, pods, query, settings)}


def application_page(user: Who, cluster: Cluster, query: QueryDict) -> dict[str, Any]:
    """The pods of an application that the user may see."""
    wanted = [query.get(name, "").strip() for name in ("namespace", "application", "queue")]
    pods, scope = pods_of(user, cluster, *wanted), scope_of(user, "view")
    placed = [pod for pod in pods if pod.node is not None]
    sums = totals(pods)
    units = {name: Unit.of(name, [amount]) for name, amount in sums.items() if name != "pods"}
    queues, settings = sorted({pod.queue for pod in pods if pod.queue}), site()
    only = queues[0] if len(queues) == 1 else ""
    return {
        **dict(zip(("namespace", "application", "queue"), wanted, strict=True)),
        "links": application_links(settings, cluster.name, wanted[0], wanted[1], only) if pods else [],
        "on_nodes": len(placed),
        "used_nodes": len({pod.node for pod in placed}),
        "without": len(pods) - len(placed),
        "sums": [(name, unit.text(sums[name])) for name, unit in sorted(units.items())],
        "queues": [(path, scope.has_path(path)) for path in queues],
        **_pods(user, cluster, pods, query, settings),
    }


def _pods(user: Who, cluster: Cluster, pods: list[ListedPod], query: QueryDict, settings: Site) -> dict[str, Any]:
    sift = Sift.read(query)
    names = [name for name in _resources(pods) if name != "pods"]
    found = sorted(pods, key=_pod_order(sift.order), reverse=sift.backwards)
    shown, paged = numbered(found, query)
    units = {name: Unit.of(name, [pod.requests.get(name, 0) for pod in shown]) for name in names}
    lines = [_pod_line(cluster, one, units, settings) for one in told(user, cluster, shown)]
    return {"pods": lines, "columns": list(units.values()), "paged": paged, "sift": sift}


def _pod_order(order: str) -> Callable[[ListedPod], Any]:
    kind, colon, resource = order.partition(":")
    if colon and kind == "used":
        return lambda pod: -pod.requests.get(resource, 0)
    return _POD_ORDERS.get(order, _POD_ORDERS["name"])


def _resources(pods: list[ListedPod]) -> list[str]:
    names = {name for pod in pods for name, amount in pod.requests.items() if amount}
    return [name for name in ("cpu", "memory") if name in names] + sorted(names - {"cpu", "memory"})


def _pod_line(cluster: Cluster, one: ToldPod, units: Mapping[str, Unit], settings: Site) -> PodLine:
    pod = one.pod
    return PodLine(
        told=one,
        state=_pod_state(one),
        application=application_address(cluster.name, pod.namespace, pod.application),
        amounts=[(unit, pod.requests.get(name)) for name, unit in units.items()],
        links=listed_pod_links(settings, cluster.name, pod),
    )


def _pod_state(one: ToldPod) -> Word:
    pod = one.pod
    if one.taken_by is not None:
        return ("stop", _("being evicted")) if pod.leaving else ("warn", _("selected for eviction"))
    if pod.leaving:
        return "shut", _("terminating")
    if pod.unread:
        return "warn", _("can't be read")
    words = {
        PodPhase.RUNNING: ("ok", _("running")),
        PodPhase.STARTING: ("wait", _("starting")),
        PodPhase.PENDING: ("wait", _("waiting")),
        PodPhase.GATED: ("none", _("scheduling gated")),
    }
    return words[pod.phase]


def _state_word(state: str) -> str:
    return {
        "ready": _("ready"),
        "not-ready": _("not ready"),
        "cordoned": _("cordoned"),
        "tainted": _("tainted"),
        "gone": _("gone"),
    }[state]


def _line(node: ListedNode, units: Mapping[str, Unit]) -> NodeLine:
    lanes = [
        Lane(unit, node.used.get(name, 0), node.allocatable.get(name, 0), _percent(share(node, name)))
        for name, unit in units.items()
        if node.used.get(name, 0) or node.allocatable.get(name, 0)
    ]
    return NodeLine(node, _states(node), _fill(node), lanes)


def _states(node: ListedNode) -> list[Word]:
    if not node.there:
        return [("stop", _state_word("gone"))]
    found = [] if node.ready else [("stop", _state_word("not-ready"))]
    found += [("shut", _state_word("cordoned"))] if node.unschedulable else []
    found += [("warn", _("can't be read"))] if node.unread else []
    return found or [("ok", _state_word("ready"))]


def _fill(node: ListedNode) -> Word:
    """How full it is, by that of its resources of which the largest part is used."""
    part = fullest(node)
    if not node.pods:
        return "none", _("empty")
    if part > 1:
        return "stop", _("overcommitted")
    if part == 1:
        return "at", _("full")
    return ("at", _("nearly full")) if part >= _NEARLY else ("ok", _("has free capacity"))


def _percent(part: float) -> str:
    return "–" if part == float("inf") else f"{int(part * 100)} %"


def _units(names: list[str], nodes: list[ListedNode]) -> dict[str, Unit]:
    """One unit for each resource."""
    return {
        name: Unit.of(name, [amounts.get(name, 0) for node in nodes for amounts in (node.used, node.allocatable)])
        for name in names
    }
