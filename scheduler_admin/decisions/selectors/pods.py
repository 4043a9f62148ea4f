"""Reads for tenants: what became of their own pods, whatever cluster they run in, and nothing of anybody else's."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol, Self, TypeVar

import msgspec
from django.db.models import F, Q, QuerySet
from django.http import Http404

from engine.model.decision import Decision as EngineDecision
from engine.model.decision import NodeVerdict, Reason
from scheduler_admin.accounts.scopes import Scope, Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import status_of
from scheduler_admin.core.links import pod_url
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.decisions import read
from scheduler_admin.decisions.selectors.index import newest_about, newest_of, numbers_of
from scheduler_admin.decisions.sentences import LOST

PAGE = 50
Place = tuple[datetime, int, int]
"""Of an event among all: when it was decided, the decision's id, and the victim's, which is 0 for an ask."""
_EVERYTHING = ("decision__cluster__status", "decision__rewound")
_UNLISTED = ("document", "laws", "deadline", "revision", "entry")
_UNLISTED_OF_VICTIMS = ("changes", "started_at", "checkpoint_at", "retry_at", "recreated_at", "running_at", "entry")
"""Columns that no list shows and that take long to read."""
KINDS = ("preempted", "pending")
_MOST_NAMES = 1_000
"""Namespaces of clusters, each a look of its own at an index."""
_PAST_ALL = 2**63
"""No id is as large, and no database takes one."""
_LOOKED_AT, _LOOKED_AT_OF_ONE = 2, 6
"""Decisions for each event of a page; where events of one kind are asked for, decisions have those of the other."""


@dataclass(frozen=True)
class Search:
    """What a tenant looks for, as the address says it."""

    text: str = ""
    kind: str = ""
    namespace: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Search":
        """Read the address; unknown values fall back to everything."""
        kind = query.get("show", "")
        return cls(query.get("q", "").strip(), kind if kind in KINDS else "", query.get("namespace", "").strip())

    @property
    def is_set(self) -> bool:
        """Whether anything is left out."""
        return self != Search()


@dataclass(frozen=True)
class PodCluster:
    """What a list of pods shows of a cluster: a row of the list has that alone, as a model's instance costs as much."""

    name: str
    pass_at: datetime | None
    """When its last pass was."""
    nodes_token: str | None
    """As ClusterStatus has it; None before the first pass."""

    @classmethod
    def of(cls, cluster: Cluster) -> Self:
        """Return it of a cluster with its status."""
        status = status_of(cluster)
        return cls(cluster.name, status.pass_at, status.nodes_token) if status else cls(cluster.name, None, None)


@dataclass(frozen=True)
class PodEvent:
    """A pod of the tenant's that a decision is about: as its victim, or as its ask."""

    decision: Decision
    victim: Victim | None
    listed: PodCluster | None = None
    """The decision's cluster, as a list has read it; None where the decision was read with its cluster."""

    @property
    def cluster_name(self) -> str:
        """Return the name of the cluster that the decision was made in."""
        return self.listed.name if self.listed else self.decision.cluster.name

    @property
    def cluster(self) -> PodCluster:
        """Return the cluster with its last pass."""
        return self.listed or PodCluster.of(self.decision.cluster)

    @property
    def at(self) -> datetime:
        """When it was decided."""
        return self.decision.first_seen

    @property
    def namespace(self) -> str:
        """The pod's own."""
        return self.victim.namespace if self.victim else self.decision.ask_namespace

    @property
    def name(self) -> str:
        """The pod's own."""
        return self.victim.name if self.victim else self.decision.ask_name

    @property
    def queue(self) -> str:
        """The pod's own."""
        return self.victim.queue if self.victim else self.decision.ask_queue

    @property
    def application(self) -> str:
        """The pod's own."""
        return self.victim.application if self.victim else self.decision.ask_application

    @property
    def url(self) -> str:
        """The pod's page."""
        return pod_url(self.cluster_name, self.namespace, self.name)

    @property
    def asked(self) -> bool:
        """Whether the pod is the ask."""
        return self.victim is None

    @property
    def current(self) -> bool:
        """Whether the last pass still considered it: what it did not has got room, or has gone."""
        pass_at = self.cluster.pass_at
        return pass_at is not None and self.decision.last_seen >= pass_at

    @property
    def order(self) -> Place:
        """The place among all events: no two share one."""
        return self.at, self.decision.pk, self.victim.pk if self.victim else 0

    @property
    def victim_uid(self) -> str:
        """The victim's UID; empty where the pod is the ask."""
        return self.victim.uid if self.victim else ""

    @property
    def lost(self) -> bool:
        """Whether the pod really went."""
        return self.victim is not None and self.victim.state in LOST


@dataclass(frozen=True)
class PodEvents:
    """Events, newest first, and where to go on."""

    events: list[PodEvent]
    older: str


def events(user: Who, search: Search, before: str = "", size: int = PAGE) -> PodEvents:
    """The tenant's victims and asks, newest first. Four queries; two more where the newest decisions do not fill it."""
    place = place_in(before)
    many = size * (_LOOKED_AT_OF_ONE if search.kind else _LOOKED_AT)
    newest = _newest_own(user, search, place, many)
    found = None if newest is None else _found(user, search, place, size, newest)
    if found is None or (len(found) <= size and len(newest or ()) == many):
        found = _found(user, search, place, size)
    return page_of(found, size)


def page_of(found: list[PodEvent], size: int) -> PodEvents:
    """A page of events, of which there may be one more."""
    shown = found[:size]
    return PodEvents(shown, _written(shown[-1]) if len(found) > size else "")


def _found(
    user: Who, search: Search, place: Place | None, size: int, within: list[int] | None = None
) -> list[PodEvent]:
    """The newest events, one more than asked for if there are; only of the decisions ``within``, if any are given."""
    of_victims, of_asks = (Q(), Q()) if within is None else (Q(decision__in=within), Q(pk__in=within))
    found: list[PodEvent] = []
    if search.kind != "pending":
        victims = victims_of(user, search, place).filter(of_victims)
        found += map(event_of, victims[: size + 1])
    if search.kind != "preempted":
        found += map(event_of, asks_of(user, search, place).filter(of_asks)[: size + 1])
    return sorted(found, key=lambda event: event.order, reverse=True)


def _newest_own(user: Who, search: Search, place: Place | None, limit: int) -> list[int] | None:
    """The newest decisions about pods of the user's, from a place on; None where too few of them may be looked for.

    A database that is asked for the newest events reads all there are, to put them in order.
    """
    scope = scope_of(user, "view")
    if search.text:
        return None
    if search.namespace and (scope.everything or scope.namespaces is not None):
        own = {search.namespace} if scope.everything else (scope.namespaces or set()) & {search.namespace}
        scope = replace(scope, everything=False, namespaces=frozenset(own))
    clusters = list(Cluster.objects.values_list("pk", flat=True))
    if scope.everything:
        rows = Decision.objects.filter(_until(place, "pk")).order_by("-first_seen", "-pk")
        every = [rows.filter(cluster=pk).values_list("first_seen", "pk") for pk in clusters]
        return newest_of(every, limit) if len(every) <= _MOST_NAMES else None
    numbers = [number for pk in clusters for number in numbers_of(scope, pk)]
    return newest_about(numbers, _until(place, "decision"), limit) if len(numbers) <= _MOST_NAMES else None


def _until(place: Place | None, decision: str) -> Q:
    """What comes after a place, and the decision at it; ``decision``: the field that has a decision's id."""
    if place is None:
        return Q()
    at, pk, _victim = place
    return Q(Q(first_seen__lt=at) | Q(**{f"{decision}__lte": pk}), first_seen__lte=at)


def victims_of(user: Who, search: Search, place: Place | None = None) -> QuerySet[Victim]:
    """The user's victims that a search finds, newest first, from a place on."""
    rows = Victim.objects.restrict(user, "view").select_related("decision").annotate(**_listed("decision__cluster"))
    rows = rows.defer(*_UNLISTED_OF_VICTIMS, *(f"decision__{name}" for name in _UNLISTED))
    if place is not None:
        at, decision, pk = place
        rest = Q(decision__first_seen__lt=at) | Q(decision__lt=decision) | Q(decision=decision, pk__lt=pk)
        rows = rows.filter(rest, decision__first_seen__lte=at)
    rows = rows.filter(_matches(search))
    return rows.order_by("-decision__first_seen", "-decision_id", "-pk")


def asks_of(user: Who, search: Search, place: Place | None = None) -> QuerySet[Decision]:
    """The decisions about asks of the user's that a search finds, newest first, from a place on."""
    rows = with_clusters(own_asks(user).exclude(ask_name=""))
    if place is not None:
        at, pk, victim = place
        rest = Q(pk__lte=pk) if victim else Q(pk__lt=pk)  # a decision's ask comes after its victims
        rows = rows.filter(Q(first_seen__lt=at) | rest, first_seen__lte=at)
    rows = rows.filter(_matches(search, "ask_"))
    return rows.order_by("-first_seen", "-pk")


def with_clusters(rows: QuerySet[Decision]) -> QuerySet[Decision]:
    """Decisions with what a list shows of their clusters, without their own large fields."""
    return rows.annotate(**_listed("cluster")).defer(*_UNLISTED)


def _listed(cluster: str) -> dict[str, F]:
    """What ``event_of`` takes of a row's cluster, which is at this path."""
    fields = {"name": "name", "pass_at": "status__pass_at", "nodes_token": "status__nodes_token"}
    return {f"cluster_{name}": F(f"{cluster}__{path}") for name, path in fields.items()}


def event_of(row: Any) -> PodEvent:
    """Return the event of a victim or an ask, as ``victims_of``, ``asks_of`` and ``with_clusters`` read them."""
    cluster = PodCluster(row.cluster_name, row.cluster_pass_at, row.cluster_nodes_token)
    return PodEvent(row.decision, row, cluster) if isinstance(row, Victim) else PodEvent(row, None, cluster)


def own_asks(user: Who) -> QuerySet[Decision]:
    """The decisions about the user's asks: one that only takes a tenant's pods is about somebody else's."""
    return Decision.objects.asked_within(scope_of(user, "view"))


def _matches(search: Search, of: str = "") -> Q:
    """What is looked for, among the columns of victims or ``of`` asks: a name, ``namespace/pod`` or ``Kind/owner``."""
    query = Q(**{f"{of}namespace": search.namespace}) if search.namespace else Q()
    if not search.text:
        return query
    space, slash, pod = search.text.partition("/")
    if slash:
        owned = Q(**{f"{of}controller__startswith": search.text})
        return query & (Q(**{f"{of}namespace": space, f"{of}name__startswith": pod}) | owned)
    return query & (
        Q(**{f"{of}name__startswith": search.text})
        | Q(**{f"{of}application__startswith": search.text})
        | Q(**{f"{of}namespace": search.text})
    )


def _written(event: PodEvent) -> str:
    at, decision, victim = event.order
    return f"{at.isoformat()}_{decision}_{victim}"


def place_in(text: str) -> Place | None:
    """Where a page of events goes on, as ``PodEvents.older`` says it; None for what is no such place."""
    try:
        stamp, decision, victim = text.split("_")
        at, pks = datetime.fromisoformat(stamp), (int(decision), int(victim))
        known = at.tzinfo is not None and all(0 <= pk < _PAST_ALL for pk in pks)
        return (at.astimezone(UTC), *pks) if known else None
    except (ValueError, OverflowError):
        return None


def of_pod(user: Who, cluster: Cluster, namespace: str, name: str, limit: int = 20) -> list[PodEvent]:
    """All that was decided about one pod, newest first; how it went before how it only would have gone.

    Raises Http404 when there is nothing, or nothing to see.
    """
    victims = Victim.objects.restrict(user, "view").select_related(*_EVERYTHING).defer("decision__rewound__blob")
    took = victims.filter(decision__cluster=cluster, namespace=namespace, name=name).order_by("-decision_id")[:limit]
    asks = own_asks(user)
    asks = asks.select_related("cluster__status")
    asked = asks.filter(cluster=cluster, ask_namespace=namespace, ask_name=name).order_by("-last_seen", "-pk")[:limit]
    found = [*(PodEvent(victim.decision, victim) for victim in took), *(PodEvent(row, None) for row in asked)]
    if not found:
        raise Http404
    return as_it_went(found)


class _Placed(Protocol):
    """An event, in so far as its place among those of its pod depends on it."""

    @property
    def order(self) -> Place:
        """The place among all events."""
        ...

    @property
    def victim_uid(self) -> str:
        """The victim's UID; empty where the pod is the ask."""
        ...

    @property
    def lost(self) -> bool:
        """Whether the pod really went."""
        ...


_AnyEvent = TypeVar("_AnyEvent", bound=_Placed)


def as_it_went(found: Iterable[_AnyEvent]) -> list[_AnyEvent]:
    """Where a pod really went, whoever decided that, other decisions to take it were not carried out."""
    events = sorted(found, key=lambda event: event.order, reverse=True)
    newest = {event.victim_uid: event.order for event in reversed(events)}

    def turn(event: _AnyEvent) -> tuple[Place, bool]:
        return newest[event.victim_uid] if event.victim_uid else event.order, event.lost

    return sorted(events, key=turn, reverse=True)  # stable: the rest stays newest first


def of_decision(user: Who, cluster: Cluster, pk: int) -> PodEvent:
    """What a decision did to the tenant: to a victim of theirs, or to their ask. Raises Http404 when to neither."""
    victims = Victim.objects.restrict(user, "view").select_related("decision__rewound").defer("decision__rewound__blob")
    victim = victims.filter(decision=pk, decision__cluster=cluster).order_by("position").first()
    if victim is not None:
        return PodEvent(victim.decision, victim)
    asks = own_asks(user)
    ask = asks.filter(pk=pk, cluster=cluster).exclude(ask_name="").first()
    if ask is None:
        raise Http404
    return PodEvent(ask, None)


def seen_by(scope: Scope, event: PodEvent) -> EngineDecision | None:
    """The engine's decision; for a tenant without the figures of queues that are not theirs, and without counts."""
    decision = read(event.decision)
    if decision is None or scope.everything:
        return decision

    def own(path: str) -> bool:
        return path == event.queue or scope.has_path(path)

    trace = msgspec.structs.replace(
        decision.trace,
        queues=tuple(one for one in decision.trace.queues if own(one.path)),
        short=tuple(one for one in decision.trace.short if own(one.queue)),
        shares=tuple(one for one in decision.trace.shares if own(one.queue)),
        deserved=tuple(one for one in decision.trace.deserved if own(one.queue)),
        reprieved=(),
        excluded=(),
        nodes=tuple(_node_seen(one, own) for one in decision.trace.nodes),
        excluded_counts={},
        candidates=0,
    )
    return msgspec.structs.replace(
        decision,
        trace=trace,
        detail="" if decision.reason is Reason.GRACE and not own(decision.detail) else decision.detail,
        notices=tuple(one for one in decision.notices if own(one.queue)),
    )


def _node_seen(verdict: NodeVerdict, own: Callable[[str], bool]) -> NodeVerdict:
    """A node as a tenant sees it: what a queue may lose that is not theirs is nobody's business."""
    limited = verdict.limit and not own(verdict.limit.queue)
    return msgspec.structs.replace(verdict, limit=msgspec.UNSET) if limited else verdict
