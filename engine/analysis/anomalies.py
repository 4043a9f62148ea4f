"""Recognize results of policy ``priority`` that look wrong to people but are not, with numbers to explain them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec
import numpy as np

from engine.feasibility import FITS, Feasibility
from engine.feasibility.checks import AmountCheck
from engine.model.columns.node_columns import Flags, Rows
from engine.model.decision import Decision, Outcome, PodReason, PodVerdict, Reason
from engine.model.objects import HIGHEST_PRIORITY, Node, Pod
from engine.model.quantities import CPU
from engine.model.snapshot import Snapshot
from engine.policies.priority.retry import Retrying, key_of, limit_of, room

_NAMED_UP_TO = 3
_NODES_TRIED = 20
_UNTIL_READY = frozenset(
    {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/network-unavailable",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "karpenter.sh/unregistered",
    }
)
"""Keys of the taints that a node has until it is ready; a node that has become unreachable has a different taint."""


class AnomalyKind(StrEnum):
    """A result that looks wrong, but follows from the rules of kube-scheduler."""

    FRAGMENTED = "fragmented"
    """Enough capacity is free over all nodes, but not enough on any single node."""
    LOWER_ELSEWHERE = "lower-elsewhere"
    """Pods with a lower priority than a victim are kept on other nodes."""
    LOWER_PROTECTED = "lower-protected"
    """Pods with a lower priority than a victim are kept on its node: they were reprieved first due to disruption
    budgets."""
    LOWER_NO_HELP = "lower-no-help"
    """Pods with a lower priority than a victim are kept on its node: the pending pod fits beside them."""
    OTHER_NODES = "other-nodes"
    """Pods on other nodes of the topology would have to be evicted, but one preemption never evicts from two nodes."""
    OVER_BUDGET = "over-budget"
    """Victims exceed their disruption budgets, which are respected only where possible."""
    EMPTY_BUDGET = "empty-budget"
    """A budget has an empty selector, which kube-scheduler treats as matching no pods."""
    BEST_EFFORT = "best-effort"
    """Pods that request nothing are kept on the node: preemption ignores the quality of service class."""
    NOT_READY = "not-ready"
    """A node that is not ready, for example because it is new, has room without any eviction."""
    TOP_CLASS = "top-class"
    """The preemptor's class ranks above all pods except system pods; the class may be too high for it."""
    GRACE = "grace"
    """The victims have a termination grace period, in which other pods may take the room."""


class Anomaly(msgspec.Struct, frozen=True, kw_only=True):
    """An anomaly with its numbers; fields that do not apply to its kind are empty."""

    trouble: AnomalyKind
    count: int = 0
    """Number of pods of the kind; of nodes for ``fragmented`` and ``not-ready``, of budgets for ``empty-budget``."""
    pods: tuple[str, ...] = ()
    """A few of the pods, as ``namespace/name``."""
    node: str = ""
    names: tuple[str, ...] = ()
    """The class for ``top-class``, the budgets for ``over-budget`` and ``empty-budget``, the topology's label and
    value for ``other-nodes``, the nodes for ``not-ready``."""
    resource: str = ""
    total: int = 0
    """For ``fragmented``: free amount of the resource on all nodes whose other filters accept the pending pod."""
    most: int = 0
    """Free amount on the node that has the most, ``node``; else a victim's highest priority, or the longest time in
    seconds."""


def find_anomalies(snapshot: Snapshot, pod: Pod, decision: Decision) -> tuple[Anomaly, ...]:
    """Return the anomalies in the policy's decision on a snapshot, in a fixed order."""
    if decision.outcome is Outcome.FITS or decision.reason in (Reason.UNREAD, Reason.UNREAD_RULES):
        return ()
    retrying = Retrying(snapshot.without_reservation(pod.uid), pod)
    anomalies = [*_fragmented(retrying)]
    if decision.outcome is Outcome.PREEMPT:
        anomalies += [*_lower(retrying, decision), *_over_budget(decision), *_empty_budgets(snapshot, decision)]
        anomalies += [*_best_effort(retrying, decision), *_top_class(retrying, decision), *_grace(decision)]
    return (*anomalies, *_not_ready(retrying), *_other_nodes(retrying))


def _fragmented(retrying: Retrying) -> Iterator[Anomaly]:
    places = np.flatnonzero(retrying.let_in())
    for name in retrying.resources if len(places) else ():
        limit, requested = limit_of(retrying.attempt, name), retrying.ask.requests[name]
        if limit is None:  # no node has any
            continue
        free = np.maximum(room(limit)[places] + requested, 0)
        most = int(np.argmax(free))
        if int(free[most]) < requested <= int(free.sum()):
            yield Anomaly(
                trouble=AnomalyKind.FRAGMENTED,
                count=len(places),
                node=retrying.attempt.columns.nodes[places[most]].name,
                resource=name,
                total=int(free.sum()),
                most=int(free[most]),
            )


def _lower(retrying: Retrying, decision: Decision) -> Iterator[Anomaly]:
    """Yield the kinds of candidates that are kept although a victim has a higher priority."""
    attempt, columns = retrying.attempt, retrying.attempt.columns
    top = max(verdict.pod.priority for verdict in decision.victims)
    victims_place = columns.place[decision.node or ""]
    spared = attempt.candidates & (columns.priority < top)
    spared[retrying.node_candidates.victims_on(victims_place)] = False
    on_node = columns.node == victims_place
    kinds = {
        AnomalyKind.LOWER_ELSEWHERE: spared & ~on_node,
        AnomalyKind.LOWER_PROTECTED: spared & on_node & attempt.budgets.violating,
        AnomalyKind.LOWER_NO_HELP: spared & on_node & ~attempt.budgets.violating,
    }
    for trouble, flags in kinds.items():
        rows = np.flatnonzero(flags)
        if len(rows):
            lowest = rows[np.argsort(columns.priority[rows], kind="stable")[:_NAMED_UP_TO]]
            node = columns.nodes[columns.node[lowest[0]]].name
            yield Anomaly(trouble=trouble, count=len(rows), pods=_keys(retrying, lowest), node=node, most=top)


def _top_class(retrying: Retrying, decision: Decision) -> Iterator[Anomaly]:
    """Yield an anomaly if the preemptor has a priority class and no pod, except system pods, ranks as high.

    Source: the troubleshooting of Kubernetes' page on pod priority and preemption.
    """
    pod, priority = retrying.ask, retrying.attempt.columns.priority
    user_priorities = priority[priority <= HIGHEST_PRIORITY]
    top = len(user_priorities) > 0 and int(user_priorities.max()) < pod.priority <= HIGHEST_PRIORITY
    if pod.priority_class and top:
        pods = tuple(verdict.pod.key for verdict in decision.victims[:_NAMED_UP_TO])
        count = len(decision.victims)
        yield Anomaly(
            trouble=AnomalyKind.TOP_CLASS, count=count, pods=pods, names=(pod.priority_class,), most=pod.priority
        )


def _over_budget(decision: Decision) -> Iterator[Anomaly]:
    over = [verdict for verdict in decision.victims if verdict.reason is PodReason.OVER_BUDGET]
    names = dict.fromkeys(name for verdict in over for name in verdict.detail.split(", "))
    if over:
        pods = tuple(verdict.pod.key for verdict in over[:_NAMED_UP_TO])
        node = decision.node or ""
        yield Anomaly(trouble=AnomalyKind.OVER_BUDGET, count=len(over), pods=pods, node=node, names=tuple(names))


def _empty_budgets(snapshot: Snapshot, decision: Decision) -> Iterator[Anomaly]:
    """Yield the budgets with an empty selector that allow fewer disruptions than their namespace has victims."""
    victims_by_namespace = Counter(verdict.pod.namespace for verdict in decision.victims)
    empty = [
        budget
        for budget in snapshot.budgets
        if not budget.expressions and budget.allowed < victims_by_namespace[budget.namespace]
    ]
    namespaces = {budget.namespace for budget in empty}
    pods = [verdict.pod.key for verdict in decision.victims if verdict.pod.namespace in namespaces]
    if empty:
        names = tuple(sorted(key_of(budget) for budget in empty))
        yield Anomaly(
            trouble=AnomalyKind.EMPTY_BUDGET,
            count=len(empty),
            pods=tuple(pods[:_NAMED_UP_TO]),
            names=names[:_NAMED_UP_TO],
        )


def _best_effort(retrying: Retrying, decision: Decision) -> Iterator[Anomaly]:
    """Yield the candidates on the node that request neither cores nor memory and are kept."""
    attempt, columns = retrying.attempt, retrying.attempt.columns
    victims_place = columns.place[decision.node or ""]
    requests_nothing = (columns.requests(CPU) == 0) & (columns.requests("memory") == 0)
    spared = attempt.candidates & (columns.node == victims_place) & requests_nothing
    spared[retrying.node_candidates.victims_on(victims_place)] = False
    rows = np.flatnonzero(spared)
    if len(rows):
        node, pods = decision.node or "", _keys(retrying, rows[:_NAMED_UP_TO])
        yield Anomaly(trouble=AnomalyKind.BEST_EFFORT, count=len(rows), pods=pods, node=node)


def _not_ready(retrying: Retrying) -> Iterator[Anomaly]:
    """Yield nodes that will fit the pending pod once they are ready, that is, without their startup taints."""
    coming = [place for place, node in enumerate(retrying.attempt.columns.nodes) if _starts(node)][:_NODES_TRIED]
    if not coming:
        return
    small = retrying.around(coming)
    nodes = tuple(_started(node) if not node.unread else node for node in small.nodes)
    ready = Retrying(msgspec.structs.replace(small, nodes=nodes), retrying.ask)
    names = {retrying.attempt.columns.nodes[place].name for place in coming}
    fits = sorted(
        node.name for node, fits in zip(nodes, ready.attempt.fits, strict=True) if fits and node.name in names
    )
    if fits:
        yield Anomaly(trouble=AnomalyKind.NOT_READY, count=len(fits), node=fits[0], names=tuple(fits[:_NAMED_UP_TO]))


def _starts(node: Node) -> bool:
    return not node.unread and any(taint.key in _UNTIL_READY for taint in node.taints)


def _started(node: Node) -> Node:
    taints = tuple(taint for taint in node.taints if taint.key not in _UNTIL_READY)
    return msgspec.structs.replace(node, taints=taints, ready=True)


def _grace(decision: Decision) -> Iterator[Anomaly]:
    def seconds(verdict: PodVerdict) -> int:
        return verdict.pod.grace_s

    longest = max(decision.victims, key=seconds)
    if seconds(longest) > 0:
        node, pods = decision.node or "", (longest.pod.key,)
        yield Anomaly(
            trouble=AnomalyKind.GRACE, count=len(decision.victims), pods=pods, node=node, most=seconds(longest)
        )


def _other_nodes(retrying: Retrying) -> Iterator[Anomaly]:
    """Yield nodes where evicting all candidates does not help, but evicting those of the whole topology would."""
    attempt = retrying.attempt
    still = attempt.feasibility.refusing(attempt.departing)
    tried = (attempt.refusing != FITS) & ~attempt.reserved
    # kube-scheduler miscounts some pods only while it simulates their removal, not once they have really left.
    for number, check in enumerate(Feasibility(attempt.snapshot, retrying.ask).checks):
        places = np.flatnonzero(tried & (still == number))
        if isinstance(check, AmountCheck) and check.detail in retrying.topologies and not check.mends and len(places):
            yield from _across(retrying, check, places)


def _across(retrying: Retrying, limit: AmountCheck, places: Rows) -> Iterator[Anomaly]:
    attempt, columns = retrying.attempt, retrying.attempt.columns
    numbers, values = columns.label(limit.detail)
    for place in places[:_NODES_TRIED]:
        evicted = attempt.candidates & (numbers[columns.node] == numbers[place])
        elsewhere = np.flatnonzero(evicted & (columns.node != place) & (limit.weight > 0))
        if numbers[place] >= 0 and len(elsewhere) and _lets_in(retrying, int(place), evicted):
            yield Anomaly(
                trouble=AnomalyKind.OTHER_NODES,
                count=len(elsewhere),
                pods=_keys(retrying, elsewhere[:_NAMED_UP_TO]),
                node=columns.nodes[place].name,
                names=(limit.detail, values[numbers[place]]),
            )
            return


def _lets_in(retrying: Retrying, place: int, evicted: Flags) -> bool:
    """Return whether the pending pod fits on a node once pods of several nodes are gone."""
    columns = retrying.attempt.columns
    for check in Feasibility(retrying.attempt.snapshot, retrying.ask).checks:
        if not isinstance(check, AmountCheck):
            if check.refused[place]:
                return False
            continue
        near = columns.node == place
        if check.detail in retrying.topologies:
            numbers, _ = columns.label(check.detail)
            near = (numbers[columns.node] == numbers[place]) if numbers[place] >= 0 else near
        remaining = int(check.held[place]) + max(check.added.get(place, 0), 0) - int(check.weight[evicted & near].sum())
        if remaining > int(check.cap[place]):
            return False
    return True


def _keys(retrying: Retrying, rows: Sequence[int] | Rows) -> tuple[str, ...]:
    return tuple(retrying.attempt.columns.pods[row].key for row in rows)
