"""Describe a scanned cluster, and propose a queue tree that fits it as it is, without any new guarantees.

The functions are pure: from what engine.cluster.inspection.scan read, they derive facts for people and a QueueTree.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from engine.formats import kueue, yunikorn
from engine.formats.arbitrator import consumers
from engine.formats.import_result import Imported
from engine.formats.registry import policy_of_format
from engine.formats.volcano import queues as volcano
from engine.model.notes import ImportFailure, Note
from engine.model.objects import (
    YUNIKORN_SCHEDULER,
    ClassQuota,
    DisruptionBudget,
    KueueSettings,
    Node,
    Pod,
    PriorityClass,
)
from engine.model.placement import add_dynamic_queues
from engine.model.quantities import Amounts, total
from engine.model.queue_tree import LONGEST_PATH, ROOT, Queue, QueueTree, is_queue_name
from engine.model.snapshot import queue_of
from engine.model.snapshot.resource_quotas import quota_limits
from engine.policies import cohort, first_of
from engine.tree.lint import errors

SYSTEM = f"{ROOT}.system"
"""The parent of the leaves of namespaces that run the cluster itself."""


class ClusterScan(msgspec.Struct, frozen=True, kw_only=True):
    """The objects of a cluster that was read once; objects that may be missing are named in ``unread``."""

    version: str = ""
    uid: str = ""
    """The uid of the namespace kube-system, which exists as long as the cluster does; empty if it may not be read."""
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    classes: tuple[PriorityClass, ...] = ()
    budgets: tuple[DisruptionBudget, ...] = ()
    quotas: tuple[ClassQuota, ...] = ()
    namespaces: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    """The API groups that the cluster serves."""
    yunikorn: str = ""
    """The queues.yaml that YuniKorn uses."""
    kueue: str = ""
    """Kueue's Cohorts, ClusterQueues and LocalQueues, as one text; empty if there are none."""
    volcano: str = ""
    """Volcano's Queues, as one text; empty if there are none."""
    consumers: str = ""
    """kube-arbitrator's Consumers, as one text; empty if there are none."""
    sharing: KueueSettings | None = None
    """How Kueue is configured to preempt; None if it is not known."""
    unread: tuple[str, ...] = ()
    """``verb resource`` of each optional permission that is missing."""
    odd: tuple[str, ...] = ()
    """One sentence for each object that could not be read."""


class FoundScheduler(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduler that runs in the cluster, and the evidence for it."""

    name: str
    named_by: int = 0
    """Number of pods whose spec.schedulerName selects it."""
    own_pods: tuple[str, ...] = ()
    """The scheduler's own pods, as ``namespace/name``."""
    groups: tuple[str, ...] = ()


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    """A leaf of the tree and what runs in it now."""

    path: str
    pods: int
    namespaces: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClusterFacts:
    """The facts about a cluster that people see before and after they connect it."""

    version: str
    nodes: int
    capacity: Amounts
    running: int
    pending: int
    classes: tuple[PriorityClass, ...]
    """Priority classes by value, the highest first."""
    budgets: int
    quotas: int
    schedulers: tuple[FoundScheduler, ...]
    leaves: tuple[Leaf, ...]
    unplaced: int
    """Number of pods that are in no queue of the tree."""
    unread: tuple[str, ...]
    odd: tuple[str, ...]


@dataclass(frozen=True)
class TreeProposal:
    """A proposed tree for the cluster as it is."""

    tree: QueueTree
    origin: str
    """The main source of the queues: the format of a scheduler's tree, or ``labels`` or ``namespaces``."""
    text: str = ""
    """The configuration that was imported: YuniKorn's queues.yaml, or the objects of another scheduler."""
    notes: tuple[Note, ...] = ()
    """Notes from importing the scheduler's tree."""
    refused: tuple[Note, ...] = ()
    """Why the scheduler's tree could not be imported; if so, the tree is derived from pods alone."""
    scheduler: str = ""
    """The format of the scheduler's tree, imported or refused; empty if there is none."""
    terms: Mapping[str, Any] = field(default_factory=dict)
    """Policy and parameters by which the cluster's scheduler decides, where they differ from the defaults of its
    format."""


def propose(scan: ClusterScan) -> TreeProposal:
    """Return the scheduler's own tree, if any, extended by leaves for queue labels and for the remaining namespaces.

    YuniKorn's tree takes precedence over Kueue's, which may run beside any scheduler. Nothing is added to Kueue's tree,
    nor to Volcano's: a queue there is an object of the cluster, and pods that it does not manage are in no queue.
    Guarantees come only from a scheduler's tree: a ResourceQuota is a limit, and becomes a max. Namespaces without pods
    get a leaf too, as their first pod would otherwise have none, except the namespaces of the cluster itself.
    """
    documents = {
        "yunikorn": scan.yunikorn,
        "kueue": scan.kueue,
        "volcano": scan.volcano,
        "consumers": scan.consumers,
    }
    scheduler, text = next((item for item in documents.items() if item[1]), ("", ""))
    imported, notes, refused = _imported(_READ[scheduler], text) if text else (None, (), ())
    if imported and scheduler in ("kueue", "volcano"):
        terms = _terms(scan.sharing) if scheduler == "kueue" else {}
        return TreeProposal(tree=imported, origin=scheduler, text=text, notes=notes, scheduler=scheduler, terms=terms)
    queues = {path: imported[path] for path in imported.walk()} if imported else {ROOT: Queue(path=ROOT)}
    pods = [pod for pod in scan.pods if not pod.finished]
    placement = imported.placement if imported else ()
    known = len(queues)
    if not placement:  # placement rules define what a label means
        _grow_labels(queues, pods)
    labelled = len(queues) > known
    tree = QueueTree(queues.values(), placement)
    unplaced = {pod.namespace for pod in pods if queue_of(pod, tree) is None}
    quotas = {} if imported else quota_limits(scan.quotas)  # YuniKorn's tree sets the limits
    empty = set() if imported else set(scan.namespaces) - {pod.namespace for pod in pods}
    unplaced |= {namespace for namespace in empty if not _runs_the_cluster(namespace)}
    for namespace in sorted(unplaced | set(quotas)):
        _grow_namespace(queues, namespace, quotas.get(namespace, {}))
    origin = scheduler if imported else "labels" if labelled else "namespaces"
    tree = QueueTree(queues.values(), placement)
    text = text if imported else ""
    return TreeProposal(tree=tree, origin=origin, text=text, notes=notes, refused=refused, scheduler=scheduler)


def _terms(sharing: KueueSettings | None) -> dict[str, Any]:
    """Return the fair sharing policy and strategies, if Kueue uses fair sharing."""
    if sharing is None or not sharing.fair:
        return {}
    strategies = frozenset(sharing.strategies) or frozenset(cohort.STRATEGIES)
    strategy_set = next((name for name, some in cohort.STRATEGY_SETS.items() if frozenset(some) == strategies), None)
    return {"policy": cohort.FAIR_SHARE, "parameters": {"strategies": strategy_set} if strategy_set else {}}


_READ: Mapping[str, Callable[[str], Imported]] = {
    "yunikorn": yunikorn.read,
    "kueue": kueue.read,
    "volcano": volcano.read,
    "consumers": consumers.read,
}


def _imported(
    read: Callable[[str], Imported], text: str
) -> tuple[QueueTree | None, tuple[Note, ...], tuple[Note, ...]]:
    try:
        imported = read(text)
    except ImportFailure as failure:
        return None, (), failure.notes
    policy = policy_of_format(imported.form)
    wrong = errors(imported.tree, first_of(policy).lint, form=imported.form)
    return (None, (), wrong) if wrong else (imported.tree, imported.notes, ())


def _grow_labels(queues: dict[str, Queue], pods: Iterable[Pod]) -> None:
    """Add a leaf, with its parents, for each queue named by a label; a label that cannot name a leaf is skipped."""
    paths = sorted({path for pod in pods if (path := _path(pod.queue_label))}, key=lambda path: path.split("."))
    leaves = {path for path in queues if not queues[path].parent_declared and not _has_children(queues, path)}
    for path in paths:
        parts = path.split(".")
        above = [".".join(parts[:depth]) for depth in range(1, len(parts))]
        if path in queues or any(parent in leaves and parent != ROOT for parent in above):
            continue
        for ancestor in (*above, path):
            queues.setdefault(ancestor, Queue(path=ancestor))


def _path(label: str) -> str:
    """Return the path that a label means, or an empty string if it cannot name a queue."""
    path = label if label.startswith(f"{ROOT}.") else f"{ROOT}.{label}" if label else ""
    parts = path.split(".")[1:]
    sound = all(is_queue_name(part) and part.lower() != ROOT for part in parts)
    return path if parts and sound and len(path) <= LONGEST_PATH else ""


def _has_children(queues: Mapping[str, Queue], path: str) -> bool:
    return any(queue.parent == path for queue in queues.values())


def _grow_namespace(queues: dict[str, Queue], namespace: str, quota: Amounts) -> None:
    above = ROOT
    if _runs_the_cluster(namespace) and (SYSTEM not in queues or queues[SYSTEM].parent_declared):
        queues.setdefault(SYSTEM, Queue(path=SYSTEM, parent_declared=True))
        above = SYSTEM
    path = f"{above}.{namespace}"
    while path in queues and (queues[path].parent_declared or _has_children(queues, path)):
        path = f"{path}-namespace"
    queue = queues.get(path, Queue(path=path, max=quota))
    queues[path] = msgspec.structs.replace(queue, namespaces=(*queue.namespaces, namespace))


def _runs_the_cluster(namespace: str) -> bool:
    """Return whether a namespace has Kubernetes' own prefix, or the conventional suffix of controllers' namespaces."""
    return namespace.startswith("kube-") or namespace.endswith("-system")


def facts(scan: ClusterScan, tree: QueueTree) -> ClusterFacts:
    """Return the facts of a cluster, with its pods placed in a tree: the proposed tree, or the current one."""
    pods = [pod for pod in scan.pods if not pod.finished]
    in_leaf = Counter(queue_of(pod, tree) for pod in pods)
    tree = add_dynamic_queues(tree, sorted(path for path in in_leaf if path is not None and path not in tree))
    running = sum(1 for pod in pods if pod.node)
    return ClusterFacts(
        version=scan.version,
        nodes=len(scan.nodes),
        capacity=total(node.allocatable for node in scan.nodes),
        running=running,
        pending=len(pods) - running,
        classes=tuple(sorted(scan.classes, key=lambda priority_class: (-priority_class.value, priority_class.name))),
        budgets=len(scan.budgets),
        quotas=len(scan.quotas),
        schedulers=_schedulers(scan),
        leaves=tuple(Leaf(path=path, pods=in_leaf[path], namespaces=tree[path].namespaces) for path in tree.leaves),
        unplaced=in_leaf[None],
        unread=scan.unread,
        odd=scan.odd,
    )


@dataclass(frozen=True)
class _Traits:
    """How to recognize a scheduler: the schedulerName of pods, the name of its own pods, its API groups."""

    scheduler_name: str
    pod_name: str
    groups: tuple[str, ...] = ()


KUBE_SCHEDULER = "kube-scheduler"
_TRAITS = {
    KUBE_SCHEDULER: _Traits("default-scheduler", "kube-scheduler"),
    "YuniKorn": _Traits(YUNIKORN_SCHEDULER, "yunikorn-scheduler", ("yunikorn.apache.org",)),
    "Kueue": _Traits("", "kueue-controller-manager", ("kueue.x-k8s.io",)),
    "Volcano": _Traits("volcano", "volcano-scheduler", ("scheduling.volcano.sh",)),
}


def _schedulers(scan: ClusterScan) -> tuple[FoundScheduler, ...]:
    named = Counter(pod.scheduler for pod in scan.pods if not pod.finished)
    schedulers = []
    for name, traits in _TRAITS.items():
        scheduler = FoundScheduler(
            name=name,
            named_by=named.pop(traits.scheduler_name, 0),
            own_pods=tuple(sorted(pod.key for pod in scan.pods if _is_pod_of(pod, traits.pod_name))),
            groups=tuple(group for group in traits.groups if group in scan.groups),
        )
        if scheduler.named_by or scheduler.own_pods or scheduler.groups:
            schedulers.append(scheduler)
    return (*schedulers, *(FoundScheduler(name=name, named_by=count) for name, count in sorted(named.items())))


def preempting_classes(pods: Iterable[Pod]) -> list[str]:
    """Return the priority classes for which the cluster's own scheduler would preempt for pods of our queues.

    That scheduler preempts at once and across fences. The pods are those of a snapshot. "" means pods without a class.
    """
    managed = (pod for pod in pods if pod.queue is not None and pod.scheduler_preempts and not pod.daemonset)
    return sorted({pod.priority_class for pod in managed})


def other_schedulers(pods: Iterable[Pod]) -> dict[str, frozenset[str]]:
    """Return the schedulers beside kube-scheduler that run, by name, with the namespaces that they run in."""
    namespaces_of: dict[str, set[str]] = {}
    for pod in pods:
        if pod.node is None or pod.started_ms is None:
            continue
        for name, traits in _TRAITS.items():
            if name != "kube-scheduler" and _is_pod_of(pod, traits.pod_name):
                namespaces_of.setdefault(name, set()).add(pod.namespace)
    return {name: frozenset(namespaces) for name, namespaces in sorted(namespaces_of.items())}


def yunikorn_namespaces(pods: Iterable[Pod]) -> tuple[str, ...]:
    """Return the namespaces in which YuniKorn runs, and therefore keeps its configuration."""
    return tuple(sorted({pod.namespace for pod in pods if _is_pod_of(pod, _TRAITS["YuniKorn"].pod_name)}))


def scheduler_pods(pods: Iterable[Pod]) -> dict[str, Pod]:
    """Return a map: name of a scheduler that runs in the cluster -> its own pod, the first by name."""
    first_pods: dict[str, Pod] = {}
    for pod in pods:
        for name, traits in _TRAITS.items():
            if _is_pod_of(pod, traits.pod_name) and (name not in first_pods or pod.key < first_pods[name].key):
                first_pods[name] = pod
    return first_pods


def _is_pod_of(pod: Pod, name: str) -> bool:
    """Return whether a pod belongs to a scheduler, by its name or by the labels that the scheduler's chart sets.

    The name of a static pod ends with its node's name.
    """
    labels = (pod.labels.get("component"), pod.labels.get("app"), pod.labels.get("app.kubernetes.io/component"))
    return not pod.finished and (pod.name.startswith(f"{name}-") or name in labels)
