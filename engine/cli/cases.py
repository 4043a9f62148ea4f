"""Cases that hold all of a decision in one JSON document: nodes, pods, queues and an asker."""

from datetime import datetime
from typing import Any

import msgspec

from engine.formats import registry, yunikorn
from engine.formats.kubernetes.decode import cluster_state
from engine.formats.kueue.cluster import quota_cluster
from engine.model.objects import Namespace, Pod
from engine.model.queue_tree import ROOT_ONLY, QueueTree
from engine.model.quota import QuotaCluster, Workload
from engine.model.snapshot import ClusterState, Protection, Safeguards, Snapshot
from engine.model.snapshot.resource_quotas import quota_limits
from engine.policies import cohort, known_dialects, priority, within_quotas


class CaseError(ValueError):
    """A case that can't be decided. ``str()`` of it is a sentence."""


class RecordedCase(msgspec.Struct, frozen=True, kw_only=True):
    """A case as recorded; fields that no policy reads are passed over."""

    name: str
    policy: str
    dialect: str = ""
    now: str
    objects: list[dict[str, Any]]
    queues: dict[str, Any] | list[Any] | str | None = None
    """The tree: a document of any format as its text, or as what it says; objects also as a list."""
    asker: str | list[str] | None = None
    fair_sharing: dict[str, Any] | None = None
    """How Kueue shares; without it classically."""
    queue: list[str] | None = None
    """The pods (``namespace/name``) in the scheduler's queue; the asker alone where the case does not say."""
    notices: dict[str, str] = {}
    """Queue -> since when it has been notified to give back what it uses beyond what it deserves."""


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy needs for one decision."""

    snapshot: Snapshot
    tree: QueueTree
    ask: Pod
    unread: tuple[str, ...] = ()
    """Why objects of the case could not be read."""


_decoder = msgspec.json.Decoder(RecordedCase)


def read_case(line: bytes) -> RecordedCase:
    """A case given as JSON. Raises msgspec.DecodeError, a ValueError."""
    return _decoder.decode(line)


def name_of(line: bytes) -> str:
    """The name of a case as far as it can be read, for saying which one failed."""
    try:
        return str(msgspec.json.decode(line).get("name", ""))
    except (msgspec.DecodeError, AttributeError, UnicodeDecodeError, RecursionError):
        return ""


def situation(
    case: RecordedCase, protection: Protection | None = None, safeguards: Safeguards | None = None
) -> Situation:
    """The case's snapshot, its tree and its asker; without a protection nothing is shielded.

    An asker that no scheduler has tried yet counts as tried when it was created. Raises ValueError.
    """
    state, tree, unread = cluster(case)
    asker = _the_one(case.asker)
    pod = next((pod for pod in state.pods.values() if pod.key == asker), None)
    if pod is None:
        raise CaseError("; ".join([f"asker {asker} is not among the objects", *unread]))
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
    queue = {asker, *(case.queue or ())}
    queued = frozenset(one.uid for one in state.pods.values() if one.key in queue)
    snapshot = msgspec.structs.replace(frozen.guarded(safeguards), queued=queued)
    ask = next((placed for placed in snapshot.asks if placed.uid == pod.uid), None)
    if ask is None:
        raise CaseError(f"asker {asker} is not pending")
    return Situation(snapshot=snapshot, tree=snapshot.tree, ask=ask, unread=unread)


def cluster(case: RecordedCase) -> tuple[ClusterState, QueueTree, tuple[str, ...]]:
    """The state, the tree, and why objects could not be read. Raises ValueError."""
    if case.queues is None and case.policy != priority.POLICY:
        raise CaseError("the case has no queues")
    tree = _tree(case.queues)
    state, _, unread = cluster_state(case.objects)
    add_namespaces(state)
    return state, tree, unread


def _tree(queues: dict[str, Any] | list[Any] | str | None) -> QueueTree:
    """Of a queues.yaml that was recorded every word counts, be it one that YuniKorn would refuse."""
    if queues is None:
        return ROOT_ONLY
    if isinstance(queues, dict) and "partitions" in queues:
        return yunikorn.read(queues).tree
    if isinstance(queues, list):
        queues = {"apiVersion": "v1", "kind": "List", "items": queues}
    return registry.read(queues if isinstance(queues, str) else msgspec.json.encode(queues).decode()).tree


def add_namespaces(state: ClusterState) -> None:
    """What is given holds the whole cluster: of a namespace that it does not tell of there are no labels to know."""
    for name in {pod.namespace for pod in state.pods.values()}.difference(state.namespaces):
        state.namespaces[name] = Namespace(name=name)


def _the_one(asker: str | list[str] | None) -> str:
    if asker is None:
        raise CaseError("the case has no asker")
    if isinstance(asker, str):
        return asker
    if len(asker) != 1:
        raise CaseError(f"the case has {len(asker)} askers, one can be decided")
    return asker[0]


def milliseconds(text: str, of: str = "now") -> int:
    """A time of a case, since 1970; ``of`` is the member that says it. Raises CaseError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise CaseError(f"{of} is {text}, which is not a time") from error
    if moment.tzinfo is None:
        raise CaseError(f"{of} is {text}, without a time zone")
    return round(moment.timestamp() * 1000)


def quota_situation(case: RecordedCase) -> tuple[QuotaCluster, Workload, tuple[cohort.Strategy, ...] | None]:
    """A case of Kueue's policies: the cluster, the workload that waits, and how it shares; None: classically."""
    cluster = quota_cluster(case.objects, now_ms=milliseconds(case.now))
    asker = _the_one(case.asker)
    ask = next((one for one in cluster.workloads if one.key == asker), None)
    if ask is None:
        raise CaseError(f"asker {asker} is no Workload of the case")
    if ask.queue not in cluster.queues:
        raise CaseError(f"asker {asker} is in no ClusterQueue")
    fair = case.fair_sharing
    if fair is None:
        return cluster, ask, None
    return cluster, ask, tuple(map(cohort.Strategy, fair.get("preemptionStrategies") or cohort.STRATEGIES))
