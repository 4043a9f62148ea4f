"""Reads cases that hold a whole decision in one JSON document: nodes, pods, queues and a preemptor."""

from datetime import datetime
from typing import Any

import msgspec

from engine.formats import registry, yunikorn
from engine.formats.kubernetes.decode import cluster_state
from engine.formats.kueue.cluster import quota_cluster
from engine.model.objects import Namespace, Pod, SchedulingGroup
from engine.model.queue_tree import ROOT_ONLY, QueueTree
from engine.model.quota import QuotaCluster, Workload
from engine.model.snapshot import ClusterState, Protection, Safeguards, Snapshot
from engine.model.snapshot.eviction_units import group_of
from engine.model.snapshot.resource_quotas import quota_limits
from engine.policies import cohort, first_of, known_dialects, within_quotas


class CaseError(ValueError):
    """Raised for a case that can't be decided. ``str()`` of it is a sentence."""


class RecordedCase(msgspec.Struct, frozen=True, kw_only=True):
    """A case as it was recorded. Fields that no policy reads are ignored."""

    name: str
    policy: str
    dialect: str = ""
    now: str
    objects: list[dict[str, Any]]
    queues: dict[str, Any] | list[Any] | str | None = None
    """The queue tree: the text of a document of any format, or its parsed content; objects may also be a list."""
    asker: str | list[str] | None = None
    asker_group: str | None = None
    """The PodGroup of scheduling.k8s.io (``namespace/name``) that preempts, in place of ``asker``."""
    fair_sharing: dict[str, Any] | None = None
    """The fair sharing settings of Kueue; None: classic preemption without fair sharing."""
    queue: list[str] | None = None
    """The pods (``namespace/name``) in the scheduler's queue; only the preemptor where the case lists none."""
    notices: dict[str, str] = {}
    """Queue -> when it was notified to give back what it uses beyond what it deserves."""


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """The input that a policy needs for one decision."""

    snapshot: Snapshot
    tree: QueueTree
    ask: Pod
    unread: tuple[str, ...] = ()
    """Why some objects of the case could not be read, one sentence for each."""


_decoder = msgspec.json.Decoder(RecordedCase)


def read_case(line: bytes) -> RecordedCase:
    """Decode a case from JSON. Raises msgspec.DecodeError, a ValueError."""
    return _decoder.decode(line)


def case_name(line: bytes) -> str:
    """Return the name of a case as far as it can be read, to report which case failed."""
    try:
        return str(msgspec.json.decode(line).get("name", ""))
    except (msgspec.DecodeError, AttributeError, UnicodeDecodeError, RecursionError):
        return ""


def situation(
    case: RecordedCase, protection: Protection | None = None, safeguards: Safeguards | None = None
) -> Situation:
    """Return the snapshot, the tree and the preemptor of a case; without ``protection``, no pod is shielded.

    A preemptor that no scheduler has tried yet counts as tried when it was created. Raises ValueError.
    """
    state, tree, unread = cluster(case)
    preemptor_key = _single_preemptor(case.asker)
    pod = next((pod for pod in state.pods.values() if pod.key == preemptor_key), None)
    if pod is None:
        raise CaseError(" ".join([f"The asker {preemptor_key} is not among the objects of the case.", *unread]))
    if pod.unschedulable_ms is None:
        state.pods[pod.uid] = msgspec.structs.replace(pod, unschedulable_ms=pod.created_ms)
    notices = {queue: milliseconds(since, f"notices of {queue}") for queue, since in case.notices.items()}
    dialect = case.dialect or known_dialects().get(case.policy, ("",))[0]
    frozen = state.snapshot(
        tree,
        now_ms=milliseconds(case.now),
        protection=protection,
        notices=notices,
        quotas=quota_limits(state.quotas.values()) if within_quotas(case.policy, dialect) else {},
    )
    queue = {preemptor_key, *(case.queue or ())}
    queued = frozenset(other.uid for other in state.pods.values() if other.key in queue)
    snapshot = msgspec.structs.replace(frozen.guarded(safeguards), queued=queued)
    preemptor = next((placed for placed in snapshot.asks if placed.uid == pod.uid), None)
    if preemptor is None:
        raise CaseError(f"The asker {preemptor_key} is not a pending pod.")
    return Situation(snapshot=snapshot, tree=snapshot.tree, ask=preemptor, unread=unread)


def group_situation(case: RecordedCase) -> tuple[Snapshot, SchedulingGroup]:
    """Return the snapshot of a case, and the group that preempts; all pending pods are in the scheduler's queue.

    Raises ValueError.
    """
    state, tree, _unread = cluster(case)
    snapshot = state.snapshot(tree, now_ms=milliseconds(case.now))
    namespace, _slash, name = (case.asker_group or "").partition("/")
    group = snapshot.groups.get((namespace, name))
    if group is None:
        raise CaseError(f"The group {case.asker_group} is not among the objects of the case.")
    if not any(group_of(snapshot, pod) is group for pod in snapshot.asks):
        raise CaseError(f"The group {case.asker_group} has no pending pods.")
    return snapshot, group


def cluster(case: RecordedCase) -> tuple[ClusterState, QueueTree, tuple[str, ...]]:
    """Return the cluster's state, its tree, and why objects could not be read. Raises ValueError."""
    if case.queues is None and first_of(case.policy).by_tree:
        raise CaseError("The case has no queues.")
    tree = _tree(case.queues)
    state, _, unread = cluster_state(case.objects)
    add_namespaces(state)
    return state, tree, unread


def _tree(queues: dict[str, Any] | list[Any] | str | None) -> QueueTree:
    """Read the tree of a case; a recorded queues.yaml is read as it is, even if YuniKorn would reject it."""
    if queues is None:
        return ROOT_ONLY
    if isinstance(queues, dict) and "partitions" in queues:
        return yunikorn.read(queues).tree
    if isinstance(queues, list):
        queues = {"apiVersion": "v1", "kind": "List", "items": queues}
    return registry.read(queues if isinstance(queues, str) else msgspec.json.encode(queues).decode()).tree


def add_namespaces(state: ClusterState) -> None:
    """Add the namespaces that the objects do not include, without labels: the given objects are the whole cluster."""
    for name in {pod.namespace for pod in state.pods.values()}.difference(state.namespaces):
        state.namespaces[name] = Namespace(name=name)


def _single_preemptor(preemptor: str | list[str] | None) -> str:
    if preemptor is None:
        raise CaseError("The case has no asker.")
    if isinstance(preemptor, str):
        return preemptor
    if len(preemptor) != 1:
        raise CaseError(f"The case has {len(preemptor)} askers. A case must have one.")
    return preemptor[0]


def milliseconds(text: str, of: str = "now") -> int:
    """Return a time of a case in milliseconds since 1970; ``of`` names the member that holds it. Raises CaseError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise CaseError(f"The time in {of} is not valid: {text}.") from error
    if moment.tzinfo is None:
        raise CaseError(f"The time in {of} has no time zone: {text}.")
    return round(moment.timestamp() * 1000)


def quota_situation(case: RecordedCase) -> tuple[QuotaCluster, Workload, tuple[cohort.Strategy, ...] | None]:
    """Return the cluster, the pending workload and the fair sharing strategies of a case for Kueue's policies.

    The strategies are None for classic preemption.
    """
    cluster = quota_cluster(case.objects, now_ms=milliseconds(case.now))
    preemptor_key = _single_preemptor(case.asker)
    preemptor = next((workload for workload in cluster.workloads if workload.key == preemptor_key), None)
    if preemptor is None:
        raise CaseError(f"The asker {preemptor_key} is not a Workload of the case.")
    if preemptor.queue not in cluster.queues:
        raise CaseError(f"The asker {preemptor_key} is not in a ClusterQueue of the case.")
    fair = case.fair_sharing
    if fair is None:
        return cluster, preemptor, None
    return cluster, preemptor, tuple(map(cohort.Strategy, fair.get("preemptionStrategies") or cohort.STRATEGIES))
