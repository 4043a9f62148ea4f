"""Small clusters in few words. Amounts are written as in manifests; whatever is not said has a plain default."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from django.db import connection, transaction
from django.db.models import QuerySet

from engine.feasibility import Feasibility, NodeRefusal
from engine.feasibility.plain import refusal
from engine.model.decision import Decision, Outcome, PodFacts, PodReason, PodVerdict, Reason
from engine.model.objects import (
    DisruptionBudget,
    DisruptionMode,
    Node,
    NodeSelectorTerm,
    Pod,
    PriorityClass,
    Requirement,
    SchedulingGroup,
)
from engine.model.quantities import Amounts, parse_amounts
from engine.model.queue_tree import PreemptionPolicy, Queue, QueueTree
from engine.model.snapshot import ClusterState, Protection, Reservation, Safeguards, Snapshot
from scheduler_admin.core.database import immutable_tables

Object = Node | Pod | PriorityClass | Reservation | DisruptionBudget | SchedulingGroup
Quantities = Mapping[str, str | int] | str | int | None

MINUTE = 60_000
NOW = 60 * MINUTE
"""An hour after 1970: later than every pod's creation and every delay in tests."""


def amounts(given: Quantities) -> Amounts:
    """``{"cpu": "2", "memory": "1Gi"}``, or ``"2"`` for cpu alone."""
    return parse_amounts(given if isinstance(given, Mapping) or given is None else {"cpu": given})


def queue(
    guaranteed: Quantities = None,
    *,
    max: Quantities = None,  # noqa: A002 - the word of the tree
    fence: bool = False,
    disabled: bool = False,
    **settings: Any,
) -> Queue:
    """A queue's own settings; ``tree`` gives it its path."""
    policy = PreemptionPolicy.FENCE if fence else PreemptionPolicy.DISABLED if disabled else PreemptionPolicy.DEFAULT
    return Queue(path="", guaranteed=amounts(guaranteed), max=amounts(max), preemption_policy=policy, **settings)


def tree(queues: Mapping[str, Queue]) -> QueueTree:
    """A tree from paths below the root, ``{"tenant.a": queue("2")}``; queues above that are not given are plain."""
    found: dict[str, Queue] = {"root": Queue(path="root")}
    for path, settings in queues.items():
        parts = path.split(".") if path != "root" else []
        for depth in range(1, len(parts)):
            above = ".".join(["root", *parts[:depth]])
            found.setdefault(above, Queue(path=above))
        full = ".".join(["root", *parts])
        found[full] = msgspec.structs.replace(settings, path=full)
    return QueueTree(found.values())


def node(name: str = "n1", cpu: str | int = 4, *, pods: int = 110, **settings: Any) -> Node:
    """A ready node; other resources as ``resources={"memory": "8Gi"}``."""
    resources = settings.pop("resources", {})
    return Node(name=name, allocatable=amounts({"cpu": cpu, "pods": pods, **resources}), **settings)


def pod(
    name: str,
    *,
    queue: str = "",
    cpu: str | int = 1,
    node: str | None = None,
    app: str = "",
    resources: Mapping[str, str | int] | None = None,
    **settings: Any,
) -> Pod:
    """A pod of namespace ``ns`` that a ReplicaSet of its own made; bound and running when a node is given."""
    defaults = {
        "uid": f"uid-{name}",
        "namespace": "ns",
        "created_ms": 0,
        "started_ms": 0 if node else None,
        "controller": f"ReplicaSet/{app or name}",
        "application_label": app,
    }
    requests = amounts({"cpu": cpu, "pods": 1, **(resources or {})})
    return Pod(name=name, queue_label=queue, node=node, requests=requests, **{**defaults, **settings})


def ask(name: str, *, queue: str = "", cpu: str | int = 1, **settings: Any) -> Pod:
    """A pending pod that the scheduler found unschedulable at the beginning of time."""
    return pod(name, queue=queue, cpu=cpu, **{"unschedulable_ms": 0, **settings})


def daemonset_ask(name: str, *, on: str, **settings: Any) -> Pod:
    """A pending pod of a DaemonSet, for one node."""
    only = NodeSelectorTerm(fields=(Requirement("metadata.name", "In", (on,)),))
    return ask(name, controller=f"DaemonSet/{name}", node_affinity=(only,), **settings)


def reservation(of: Pod, *, node: str) -> Reservation:
    """Room that an open decision keeps for an ask."""
    path = of.queue_label if of.queue_label.startswith("root.") else f"root.{of.queue_label}"
    return Reservation(ask_uid=of.uid, node=node, queue=path, requests=of.requests)


def budget(allowed: int, name: str = "budget", **labels: str) -> DisruptionBudget:
    """A disruption budget of namespace ``ns`` over the pods with all of these labels; without any, over all pods."""
    expressions = tuple(Requirement(key, "In", (value,)) for key, value in labels.items())
    return DisruptionBudget(namespace="ns", name=name, expressions=expressions, allowed=allowed)


OPTED_OUT = PriorityClass(name="keep", opted_out=True)
"""Give pods ``priority_class="keep"`` and the snapshot this class."""


def pod_group(
    name: str, *, at_once: int | None = None, priority: int = 0, whole: bool = False, namespace: str = "ns"
) -> SchedulingGroup:
    """A PodGroup; ``at_once``: how many of its pods have to run together; ``whole``: whether they go together, too."""
    mode = DisruptionMode.ALL if whole else DisruptionMode.SINGLE
    return SchedulingGroup(
        namespace=namespace, name=name, uid=f"uid-{name}", min_count=at_once, priority=priority, disruption_mode=mode
    )


def snapshot(
    tree: QueueTree,
    *objects: Object | Iterable[Object],
    now: int = NOW,
    protection: Protection | None = None,
    notices: Mapping[str, int] | None = None,
    safeguards: Safeguards | None = None,
) -> Snapshot:
    """The objects frozen under a tree; lists of objects may be given as they are."""
    state, reservations = ClusterState(), []
    for one in _flat(objects):
        if isinstance(one, Node):
            state.nodes[one.name] = one
        elif isinstance(one, Pod):
            state.pods[one.uid] = one
        elif isinstance(one, PriorityClass):
            state.classes[one.name] = one
        elif isinstance(one, SchedulingGroup):
            state.scheduling_groups[one.namespace, one.name] = one
        elif isinstance(one, DisruptionBudget):
            state.budgets[one.namespace, one.name] = one
        else:
            reservations.append(one)
    frozen = state.snapshot(tree, now_ms=now, protection=protection, reservations=reservations, notices=notices)
    return frozen.guarded(safeguards)


def refused(ask: Pod, node: Node, *pods: Pod) -> NodeRefusal | None:
    """Why an ask can't run on the only node of a cluster, beside these pods."""
    at = Snapshot(now_ms=NOW, nodes=(node,), pods=(*pods, ask))
    found, told = Feasibility(at, ask).on(0).refusal(), refusal(at, ask, node)
    assert found == told
    return found


def _flat(objects: Iterable[Object | Iterable[Object]]) -> Iterable[Object]:
    for one in objects:
        if isinstance(one, msgspec.Struct):
            yield one
        else:
            yield from one


def named(snapshot: Snapshot, name: str) -> Pod:
    """The snapshot's pod of that name."""
    return next(pod for pod in snapshot.pods if pod.name == name)


def preempting(
    snapshot: Snapshot, asker: str, victims: Iterable[str], *, node: str = "n1", reason: Reason = Reason.BELOW_GUARANTEE
) -> Decision:
    """A decision made by hand: ``asker`` takes ``victims`` on ``node``."""
    found = [named(snapshot, name) for name in victims]
    why = PodReason.LAST_RESORT if reason is Reason.LAST_RESORT else PodReason.OVER_GUARANTEE
    return Decision(
        policy="fence",
        dialect="design",
        ask=PodFacts.of(named(snapshot, asker)),
        outcome=Outcome.PREEMPT,
        reason=reason,
        node=node,
        victims=tuple(PodVerdict(pod=PodFacts.of(victim), reason=why) for victim in found),
    )


def victims_of(decision: Decision) -> list[str]:
    """The names of those who go, sorted."""
    return sorted(verdict.pod.name for verdict in decision.victims)


def settled(snapshot: Snapshot, decision: Decision) -> Snapshot:
    """The snapshot once the decision has come about: its victims recreated and pending, its ask bound to its node."""
    gone = {verdict.pod.uid for verdict in decision.victims}
    pods = []
    for pod in snapshot.pods:
        if pod.uid == decision.ask.uid:
            pods.append(msgspec.structs.replace(pod, node=decision.node, started_ms=snapshot.now_ms))
        elif pod.uid in gone:
            name = f"{pod.name}x"
            again = {"name": name, "uid": f"uid-{name}", "node": None, "started_ms": None, "unschedulable_ms": 0}
            pods.append(msgspec.structs.replace(pod, **again))
        else:
            pods.append(pod)
    ordered = sorted(pods, key=lambda pod: (pod.namespace, pod.name, pod.uid))
    return msgspec.structs.replace(snapshot, pods=tuple(ordered))


@transaction.atomic
def rewrite(rows: QuerySet[Any], **values: Any) -> None:
    """Change published rows behind their triggers' back, as only the owner of the database can.

    For what no service makes: another time, a policy of another version.
    """
    immutable_tables.release(connection)
    rows.update(**values)
    immutable_tables.protect(connection)
