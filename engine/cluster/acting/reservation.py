"""Reserves freed capacity for the pod it was freed for: kube-scheduler would give it to the first pod that fits."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

import msgspec
from kubernetes import client

from engine.cluster.acting.objects import NOT_FOUND, Json, patch_object, read_object, retry_on_conflict
from engine.cluster.acting.outcomes import (
    ForgottenPods,
    OperationOutcome,
    PodRef,
    ReservationMethod,
    ReservationTerms,
    Result,
    SweepResult,
    reserved_for,
)
from engine.cluster.connecting.connection import Connection, Query
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from engine.cluster.connecting.paging import pages
from engine.cluster.errors import ApiFailure, ClusterError, ConnectionFailure
from engine.cluster.timing import Clock
from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from engine.formats.kubernetes.decode import NODE_READER, POD_READER, DecodeError
from engine.formats.kubernetes.wire import ListPage
from engine.formats.undecodable import UNDECODABLE
from engine.model.objects import Node, Pod

RESERVED_BY = "scheduler-admin.io/reserved-by"
"""Annotation of a reserved node: where the decision can be read."""
RESERVED_UNTIL = "scheduler-admin.io/reserved-until"
"""Annotation of a reserved node: when the reservation ends at the latest, RFC 3339."""
_EFFECT = "NoSchedule"


class NodeReservations:
    """The reservations of one cluster; safe to share between threads."""

    def __init__(
        self,
        connection: Connection,
        *,
        nodes: Callable[[], Iterable[Node]] | None = None,
        clock: Clock,
        reached: Callable[[str], None],
    ) -> None:
        """Create the reservations of a cluster.

        ``nodes`` returns the nodes as last seen; ``reached`` is called at each point where a crash may happen.
        """
        self._connection = connection
        self._core = client.CoreV1Api(KubernetesClient(connection))
        self._watched_nodes = nodes
        self._clock = clock
        self._reached = reached

    def reserve(self, node: str, pod: PodRef, terms: ReservationTerms, owner: str) -> Result:
        """Reserve a node for a pending pod: taint it first, so that no other pod takes the capacity.

        ``owner``: the uid that the taint carries. The taint is removed again if the pod turns out not to be pending.
        """
        if terms.kept_by is ReservationMethod.TAINT:
            result = retry_on_conflict(lambda: self._taint(node, owner, terms))
            if not result.done:
                return result
            self._reached("tainted")
        result = retry_on_conflict(lambda: self._prepare_pod(node, pod, owner, terms.kept_by))
        if result.outcome in (OperationOutcome.GONE, OperationOutcome.BOUND, OperationOutcome.REFUSED):
            released = self.release(node, owner)
            return result if released.done else released
        return result

    def release(self, node: str, owner: str, waiting: Iterable[PodRef] = ()) -> Result:
        """Release the reservation of a node; see Executor.release. The taint goes last: a sweep finds it."""
        for pod in waiting:
            result = retry_on_conflict(partial(self._withdraw_nomination, node, pod))
            if result.outcome is OperationOutcome.RETRY:
                return result
        return retry_on_conflict(lambda: self._untaint(node, lambda uid: uid == owner))

    def sweep(
        self, open_pod_uids: Collection[str], *, thorough: bool = False, forgotten: ForgottenPods | None = None
    ) -> SweepResult:
        """Release stale reservations; see Executor.sweep. A node that can't be freed now is left to the next sweep."""
        open_uids = frozenset(open_pod_uids)
        try:
            nodes = self._listed() if thorough or self._watched_nodes is None else self._watched_nodes()
            stale = {node.name: uids for node in nodes if (uids := reserved_for(node) - open_uids)}
        except ClusterError as error:
            return SweepResult(sentence=str(error))
        spared = frozenset(forgotten(frozenset().union(*stale.values()))) if forgotten and stale else frozenset[str]()
        results = {name: self._sweep(name, open_uids, spared) for name in sorted(stale)}
        first_error = next((result.sentence for result in results.values() if not result.done), "")
        return SweepResult(freed=tuple(name for name, result in results.items() if result.done), sentence=first_error)

    def _sweep(self, node: str, open_uids: frozenset[str], spared: frozenset[str]) -> Result:
        return retry_on_conflict(lambda: self._untaint(node, lambda owner: owner not in open_uids, spared))

    def _taint(self, node: str, owner: str, terms: ReservationTerms) -> Result:
        current = read_object(self._core.read_node, node)
        taints = current.get("spec", {}).get("taints") or []
        own_taints = [taint for taint in taints if taint.get("key") == RESERVED_TAINT_KEY]
        if any(taint.get("value") != owner for taint in own_taints):
            return Result(outcome=OperationOutcome.TAKEN, sentence=f"node {node} is reserved for another pod")
        until = datetime.fromtimestamp(terms.until_ms // 1000, UTC).isoformat().replace("+00:00", "Z")
        annotations = {RESERVED_BY: terms.decision, RESERVED_UNTIL: until}
        changes: Json = {"metadata": {"annotations": annotations}}
        if not own_taints:
            taint = {"key": RESERVED_TAINT_KEY, "value": owner, "effect": _EFFECT}
            changes["spec"] = {"taints": [*taints, taint]}
        if not own_taints or not annotations.items() <= (current["metadata"].get("annotations") or {}).items():
            patch_object(self._core.patch_node, node, current=current, changes=changes)
        return Result(outcome=OperationOutcome.DONE)

    def _untaint(self, node: str, is_stale: Callable[[str], bool], spared: Collection[str] = ()) -> Result:
        try:
            current = read_object(self._core.read_node, node)
        except ApiFailure as error:
            if error.code == NOT_FOUND:  # a node that no longer exists is reserved for no pod
                return Result(outcome=OperationOutcome.DONE)
            raise
        taints = current.get("spec", {}).get("taints") or []
        until = (current["metadata"].get("annotations") or {}).get(RESERVED_UNTIL, "")
        owners = {taint.get("value", "") for taint in taints if taint.get("key") == RESERVED_TAINT_KEY}
        if owners & set(spared) and self._is_future(until):
            return Result(
                outcome=OperationOutcome.TAKEN,
                sentence=f"node {node} is reserved until {until} for another pending pod",
            )
        remaining = [
            taint for taint in taints if taint.get("key") != RESERVED_TAINT_KEY or not is_stale(taint.get("value", ""))
        ]
        if remaining != taints:
            annotations = {RESERVED_BY: None, RESERVED_UNTIL: None}
            changes = {"spec": {"taints": remaining or None}, "metadata": {"annotations": annotations}}
            patch_object(self._core.patch_node, node, current=current, changes=changes)
        return Result(outcome=OperationOutcome.DONE)

    def _is_future(self, until: str) -> bool:
        """Return whether the time that is written on a node is in the future; an unreadable time counts as past."""
        try:
            at = datetime.fromisoformat(until)
        except ValueError:
            return False
        return at.tzinfo is not None and at.timestamp() * 1000 > self._clock.wall_ms()

    def _prepare_pod(self, node: str, pod: PodRef, owner: str, method: ReservationMethod) -> Result:
        """Let the pending pod tolerate the taint, and nominate it to the node, if it is still unbound."""
        current = read_object(self._core.read_namespaced_pod, pod.name, pod.namespace)
        if current["metadata"].get("uid") != pod.uid or current["metadata"].get("deletionTimestamp"):
            return Result(outcome=OperationOutcome.GONE, sentence="the pending pod no longer exists")
        if bound := current.get("spec", {}).get("nodeName"):
            return Result(outcome=OperationOutcome.BOUND, sentence=f"the pod already runs on {bound}")
        if method is ReservationMethod.TAINT:
            current = self._tolerate(pod, owner, current)
            self._reached("tolerated")
        if method is not ReservationMethod.NONE and current.get("status", {}).get("nominatedNodeName") != node:
            self._nominate(pod, current, node)
            self._reached("nominated")
            retry_on_conflict(lambda: self._clear_nominations(node, current))
        return Result(outcome=OperationOutcome.DONE)

    def _clear_nominations(self, node: str, preemptor: Json) -> Result:
        """Clear the nomination of lower-priority pods to the node, so that they look for another node.

        kube-scheduler does this where it preempts itself: otherwise they would wait for capacity that is no longer
        meant for them. A pod that keeps its nomination harms only itself. Source: prepareCandidate of its package
        preemption.
        """
        for pod in self._nominated(node):
            if pod.uid != preemptor["metadata"].get("uid") and pod.node is None and pod.priority < _priority(preemptor):
                current = read_object(self._core.read_namespaced_pod, pod.name, pod.namespace)
                if current["metadata"].get("uid") == pod.uid:
                    self._nominate(pod, current, None)
        return Result(outcome=OperationOutcome.DONE)

    def _withdraw_nomination(self, node: str, pod: PodRef) -> Result:
        """Clear the nomination of a pod to a node, if it still waits there."""
        current = read_object(self._core.read_namespaced_pod, pod.name, pod.namespace)
        same = current["metadata"].get("uid") == pod.uid and not current.get("spec", {}).get("nodeName")
        if same and current.get("status", {}).get("nominatedNodeName") == node:
            self._nominate(pod, current, None)
        return Result(outcome=OperationOutcome.DONE)

    def _nominate(self, pod: PodRef, current: Json, node: str | None) -> None:
        patch, changes = self._core.patch_namespaced_pod_status, {"status": {"nominatedNodeName": node}}
        patch_object(patch, pod.name, pod.namespace, current=current, changes=changes)

    def _nominated(self, node: str) -> Iterator[Pod]:
        """Yield the pods that are nominated to a node, as far as they can be read."""
        query: dict[str, str | int] = {"fieldSelector": f"status.nominatedNodeName={node}", "limit": 500}
        body = self._connection.request("GET", "/api/v1/pods", query=query).body
        with suppress(*UNDECODABLE):
            for item in msgspec.json.decode(body, type=ListPage).items or ():
                with suppress(DecodeError):
                    yield POD_READER.from_bytes(item)

    def _tolerate(self, pod: PodRef, owner: str, current: Json) -> Json:
        tolerations = current.get("spec", {}).get("tolerations") or []
        toleration = {"key": RESERVED_TAINT_KEY, "operator": "Equal", "value": owner, "effect": _EFFECT}
        if toleration in tolerations:
            return current
        patch, changes = self._core.patch_namespaced_pod, {"spec": {"tolerations": [*tolerations, toleration]}}
        return patch_object(patch, pod.name, pod.namespace, current=current, changes=changes)

    def _listed(self) -> Iterable[Node]:
        """Yield all nodes as they are now. Raises ClusterError."""
        try:
            for page in pages(self._page, {"limit": 500}):
                yield from [NODE_READER.from_bytes(item) for item in page.items or ()]
        except (msgspec.DecodeError, DecodeError) as error:
            raise ConnectionFailure("the list of nodes can't be read") from error

    def _page(self, query: Query) -> ListPage:
        return msgspec.json.decode(self._connection.request("GET", "/api/v1/nodes", query=query).body, type=ListPage)


def _priority(pod: Json) -> int:
    return int(pod.get("spec", {}).get("priority") or 0)
