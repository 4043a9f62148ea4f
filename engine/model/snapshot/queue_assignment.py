"""Assigns a pod its queue and application under a tree, and determines whether it is shielded from eviction."""

from collections.abc import Iterable

import msgspec
import numpy as np

from engine.model.columns import pod_fields
from engine.model.columns.group_codes import Rows
from engine.model.columns.roster import Roster
from engine.model.objects.kubernetes import KUEUE, SYSTEM_PRIORITY, YUNIKORN_SCHEDULER, Pod, PriorityClass, Shield
from engine.model.placement import Submission, leaf_for, template_of
from engine.model.queue_tree import QueueTree

_LONGEST_LABEL = 63


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    """Which pods are never victims of this engine."""

    namespaces: frozenset[str] = frozenset({"kube-system"})
    min_run_ms: int = 0
    """Pods that have run for less are shielded: evicting them wastes their start, and their load soon comes back."""


def missing_leaves(roster: Roster, tree: QueueTree) -> tuple[str, ...]:
    """Return the leaves that pods are in but that the tree lacks.

    They are sorted by path; if one of them lies below another, by the age of their oldest pods.
    """
    missing = sorted(
        path for path in {pod.queue for pod in roster.coded(pod_fields.queue).there} if path and path not in tree
    )
    above = {path[:dot] for path in missing for dot, mark in enumerate(path) if mark == "."}
    if above.isdisjoint(missing):
        return tuple(missing)
    first: dict[str, tuple[int, str]] = {}
    for pod in roster.pods:
        if pod.queue is not None and pod.queue not in tree:
            came = (pod.created_ms, pod.key)
            first[pod.queue] = min(came, first.get(pod.queue, came))
    return tuple(sorted(missing, key=lambda path: (first[path], path)))


CLUSTER_QUEUE_LABEL = "kueue.x-k8s.io/cluster-queue-name"
"""The label of pods that Kueue admitted."""
VOLCANO_QUEUE_LABEL = "volcano.sh/queue-name"
"""The label of pods that Volcano creates for its jobs."""
NAMING_LABELS = (CLUSTER_QUEUE_LABEL, VOLCANO_QUEUE_LABEL)
"""The labels by which another system names the queue of a pod."""
QUEUE_NAME_LABEL = "kueue.x-k8s.io/queue-name"
"""The label of pods that wait for Kueue, and of jobs whose pods do."""


def is_foreign(pod: Pod, scheduler: str) -> bool:
    """Return whether the pod is foreign to a system: YuniKorn does not schedule it, or Kueue gives it no quota.

    For an empty ``scheduler`` no pod is foreign. Source: GetApplicationIDFromPod of yunikorn-k8shim; the feature
    AssignQueueLabelsForPods of Kueue, on since 0.17.
    """
    if scheduler == YUNIKORN_SCHEDULER:
        return pod.scheduler != YUNIKORN_SCHEDULER
    if scheduler == KUEUE:
        return not pod.workload and pod.labels.keys().isdisjoint((CLUSTER_QUEUE_LABEL, QUEUE_NAME_LABEL))
    return False


def queue_of(pod: Pod, tree: QueueTree, parent_queue: str = "", scheduler: str = "") -> str | None:
    """Return the leaf that a pod runs in, or None. It may be a dynamic leaf that the tree does not have.

    If the tree has placement rules, they decide, and may use the namespace's ``parent_queue``. Otherwise the first of
    these leaves is used: the leaf that the queue label names, where a former path means the queue that had it; the leaf
    named like the ClusterQueue that Kueue admitted the pod to, or like the Queue that Volcano created it for; the leaf
    that claims the pod's namespace. ``scheduler``: the system to which a pod may be foreign, so that it is in no queue;
    empty: none.
    """
    if is_foreign(pod, scheduler):
        return None
    if tree.placement:
        return leaf_for(tree, Submission(pod.queue_label, pod.user, pod.groups, pod.namespace, parent_queue))
    if pod.queue_label:
        named = pod.queue_label if pod.queue_label.startswith(f"{tree.root}.") else f"{tree.root}.{pod.queue_label}"
        path = tree.now(named)
        if path in tree and tree.is_leaf(path):
            return path
    for label in NAMING_LABELS:
        named = pod.labels.get(label, "").replace(".", "_")
        if named in tree.leaf_by_name:
            return tree.leaf_by_name[named]
    return tree.leaf_by_namespace.get(pod.namespace)


def assign_queue(
    pod: Pod, tree: QueueTree, priority_class: PriorityClass | None, parent_queue: str = "", scheduler: str = ""
) -> Pod:
    """Return the pod with its queue and application, and with what its priority class says."""
    return msgspec.structs.replace(
        pod,
        queue=queue_of(pod, tree, parent_queue, scheduler),
        application=application_of(pod, scheduler),
        opted_out=priority_class is not None and priority_class.opted_out,
        scheduler_preempts=not _never_by_scheduler(pod, priority_class),
        never_preempts=pod.never_preempts and not (priority_class is not None and priority_class.may_preempt),
    )


def application_of(pod: Pod, scheduler: str = "") -> str:
    """Return the application of a pod: the one that it names, else its controller, else the pod itself.

    To YuniKorn, all pods of a namespace that name no application are in one. Source: GenerateApplicationID of
    yunikorn-k8shim, unless it is configured to generate one for each pod.
    """
    if pod.application_label:
        return pod.application_label
    if scheduler == pod.scheduler == YUNIKORN_SCHEDULER:
        return f"yunikorn-{pod.namespace}-autogen"[:_LONGEST_LABEL]
    return pod.controller or pod.name


def _never_by_scheduler(pod: Pod, priority_class: PriorityClass | None) -> bool:
    # The pod is bound, and its own policy is fixed. The pod that replaces it takes the policy of the class.
    return (priority_class or pod).never_preempts if pod.node is not None else pod.never_preempts


def mark_originators(pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods with each application's first pod marked: the oldest, with ties broken by name."""
    every = list(pods)
    first: dict[tuple[str, str], int] = {}
    for number, pod in enumerate(every):
        other = every[first.setdefault((pod.namespace, pod.application), number)]
        if pod.created_ms < other.created_ms or (
            pod.created_ms == other.created_ms and pod_fields.sort_key(pod) < pod_fields.sort_key(other)
        ):
            first[pod.namespace, pod.application] = number
    for number in first.values():
        every[number] = msgspec.structs.replace(every[number], originator=True)
    return every


def move_originators(roster: Roster, gone: Iterable[int], coming: Iterable[Pod]) -> tuple[set[int], list[Pod]]:
    """Return the change of a roster, extended by the pods that become, or no longer are, an application's first pod.

    ``gone``: the rows that go. ``coming``: the pods that come, none of them marked.
    """
    out, came, key = set(gone), list(coming), pod_fields.application
    touched = {key(pod) for pod in came} | {key(roster.pods[row]) for row in out}
    application, created = roster.coded(key), roster.numbers(pod_fields.created)
    flagged = np.zeros(len(application.each), np.bool_)
    flagged[[application.numbers[one] for one in touched if one in application.numbers]] = True
    rows = np.flatnonzero(flagged[application.of])
    rows = rows[~np.isin(rows, list(out))]
    oldest = np.full(len(application.each), np.iinfo(np.int64).max)
    np.minimum.at(oldest, application.of[rows], created[rows])
    ties = rows[created[rows] == oldest[application.of[rows]]]
    first: dict[object, tuple[tuple[int, tuple[str, str, str]], int]] = {}
    old = [(row, roster.pods[row]) for row in ties.tolist()]
    for place, pod in (*((row, pod) for row, pod in old), *((-1 - number, pod) for number, pod in enumerate(came))):
        age = pod.created_ms, pod_fields.sort_key(pod)
        first[key(pod)] = min(first.get(key(pod), (age, place)), (age, place))
    leads = {place for _age, place in first.values()}
    for place in leads:
        if place < 0:
            came[-1 - place] = msgspec.structs.replace(came[-1 - place], originator=True)
    marked = rows[roster.numbers(pod_fields.originator, np.bool_)[rows]].tolist()
    for row in leads.symmetric_difference(marked):
        if row >= 0:
            out.add(row)
            came.append(msgspec.structs.replace(roster.pods[row], originator=row in leads))
    return out, came


def follow_first_pod(roster: Roster, tree: QueueTree, protection: Protection | None, scheduler: str) -> Roster:
    """Return the roster with the pods of an application in the queue of its first pod, if YuniKorn schedules them.

    Source: Context.addTask and Application of yunikorn-k8shim, which submits an application once, with the queue of the
    first pod that it sees of it.
    """
    if scheduler != YUNIKORN_SCHEDULER or not len(roster.pods):
        return roster
    application, queue = roster.coded(pod_fields.application), roster.coded(pod_fields.queue)
    own = roster.coded(pod_fields.scheduler)
    rows = np.flatnonzero(own.of == own.numbers.get(scheduler, -1))
    first = _first_rows(roster, rows)
    differing = rows[queue.of[rows] != queue.of[first[application.of[rows]]]]
    leaders = first[application.of[differing]].tolist()
    pods = [
        apply_shield(
            msgspec.structs.replace(pod, queue=roster.pods[leader].queue, shield=Shield.NONE), tree, protection
        )
        for pod, leader in zip(roster.at(differing), leaders, strict=True)
    ]
    return roster.swapped(differing, pods)


def _first_rows(roster: Roster, rows: Rows) -> Rows:
    """Return for each application the row of its oldest pod among ``rows``, with ties broken by name."""
    application, created = roster.coded(pod_fields.application), roster.numbers(pod_fields.created)
    first = np.full(len(application.each), -1, np.intp)
    leads = rows[roster.numbers(pod_fields.originator, np.bool_)[rows]]
    first[application.of[leads]] = leads
    others = rows[first[application.of[rows]] < 0]  # the first pod of their application is of another scheduler
    ordered = sorted(others.tolist(), key=lambda row: (created[row], pod_fields.sort_key(roster.pods[row])))
    for row in reversed(ordered):
        first[application.of[row]] = row
    return first


def without_queue(pod: Pod, protection: Protection | None) -> Pod:
    """Return the pod without a queue, because its leaf can't be in the tree."""
    pod = msgspec.structs.replace(pod, queue=None)
    spared = protection is not None and pod.shield in {Shield.NONE, Shield.NO_CONTROLLER}
    return msgspec.structs.replace(pod, shield=Shield.NO_QUEUE) if spared else pod


def apply_shield(pod: Pod, tree: QueueTree, protection: Protection | None) -> Pod:
    """Return the pod with the reason why it is never a victim, if there is any."""
    shield = _shield(pod, tree, protection)
    return pod if shield is Shield.NONE else msgspec.structs.replace(pod, shield=shield)


def _shield(pod: Pod, tree: QueueTree, protection: Protection | None) -> Shield:
    if pod.unread:
        return Shield.UNREAD
    if protection is None:
        return Shield.NONE
    if pod.mirror:
        return Shield.MIRROR
    if pod.daemonset:
        return Shield.DAEMONSET
    if pod.priority >= SYSTEM_PRIORITY:
        return Shield.SYSTEM_PRIORITY
    if pod.namespace in protection.namespaces:
        return Shield.NAMESPACE
    if pod.queue is None:
        return Shield.NO_QUEUE
    queue = tree.queues.get(pod.queue) or template_of(tree, pod.queue)
    if not pod.controller and not queue.evict_uncontrolled:
        return Shield.NO_CONTROLLER
    return Shield.NONE


def shield_recent_pods(roster: Roster, *, since_ms: int) -> Roster:
    """Return the roster with pods shielded that were started after ``since_ms``."""
    started = roster.numbers(pod_fields.started)
    young = (started > since_ms) & (started != pod_fields.NEVER) & ~roster.numbers(pod_fields.shielded, np.bool_)
    places = np.flatnonzero(young)
    spared = [msgspec.structs.replace(pod, shield=Shield.JUST_STARTED) for pod in roster.at(places)]
    return roster.swapped(places, spared)
