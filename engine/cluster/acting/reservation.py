"""Reserves freed capacity for the pod it was freed for: kube-scheduler would give it to the first pod that fits."""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from engine.cluster.acting.objects import NOT_FOUND, Json, Objects, node_path, pod_path, retry_on_conflict
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
        self._objects = Objects(connection)
        self._seen = nodes
        self._clock = clock
        self._reached = reached

    def reserve(self, node: str, ask: PodRef, terms: ReservationTerms) -> Result:
        """Reserve a node for a pending pod: taint it first, so that no other pod takes the capacity.

        The taint is removed again if the pod turns out not to be pending.
        """
        if terms.kept_by is ReservationMethod.TAINT:
            result = retry_on_conflict(lambda: self._taint(node, ask.uid, terms))
            if not result.done:
                return result
            self._reached("tainted")
        result = retry_on_conflict(lambda: self._admit(node, ask, terms.kept_by))
        if result.outcome in (OperationOutcome.GONE, OperationOutcome.BOUND, OperationOutcome.REFUSED):
            undone = self.release(node, ask.uid)
            return result if undone.done else undone
        return result

    def release(self, node: str, ask_uid: str) -> Result:
        """Release the reservation of a node; see Executor.release."""
        return retry_on_conflict(lambda: self._untaint(node, lambda owner: owner == ask_uid))

    def sweep(
        self, open_ask_uids: Collection[str], *, thorough: bool = False, forgotten: ForgottenPods | None = None
    ) -> SweepResult:
        """Release stale reservations; see Executor.sweep. A node that can't be freed now is left to the next sweep."""
        kept = frozenset(open_ask_uids)
        try:
            nodes = self._listed() if thorough or self._seen is None else self._seen()
            stale = {node.name: uids for node in nodes if (uids := reserved_for(node) - kept)}
        except ClusterError as error:
            return SweepResult(sentence=str(error))
        spared = frozenset(forgotten(frozenset().union(*stale.values()))) if forgotten and stale else frozenset[str]()
        results = {name: self._sweep(name, kept, spared) for name in sorted(stale)}
        left = next((result.sentence for result in results.values() if not result.done), "")
        return SweepResult(freed=tuple(name for name, result in results.items() if result.done), sentence=left)

    def _sweep(self, node: str, kept: frozenset[str], spared: frozenset[str]) -> Result:
        return retry_on_conflict(lambda: self._untaint(node, lambda owner: owner not in kept, spared))

    def _taint(self, node: str, ask_uid: str, terms: ReservationTerms) -> Result:
        found = self._objects.get(node_path(node))
        taints = found.get("spec", {}).get("taints") or []
        ours = [taint for taint in taints if taint.get("key") == RESERVED_TAINT_KEY]
        if any(taint.get("value") != ask_uid for taint in ours):
            return Result(outcome=OperationOutcome.TAKEN, sentence=f"node {node} is kept for another ask")
        until = datetime.fromtimestamp(terms.until_ms // 1000, UTC).isoformat().replace("+00:00", "Z")
        told = {RESERVED_BY: terms.decision, RESERVED_UNTIL: until}
        changes: Json = {"metadata": {"annotations": told}}
        if not ours:
            taint = {"key": RESERVED_TAINT_KEY, "value": ask_uid, "effect": _EFFECT}
            changes["spec"] = {"taints": [*taints, taint]}
        if not ours or not told.items() <= (found["metadata"].get("annotations") or {}).items():
            self._objects.patch(node_path(node), found, changes)
        return Result(outcome=OperationOutcome.DONE)

    def _untaint(self, node: str, goes: Callable[[str], bool], spared: Collection[str] = ()) -> Result:
        try:
            found = self._objects.get(node_path(node))
        except ApiFailure as error:
            if error.code == NOT_FOUND:  # a node that no longer exists is reserved for no pod
                return Result(outcome=OperationOutcome.DONE)
            raise
        taints = found.get("spec", {}).get("taints") or []
        until = (found["metadata"].get("annotations") or {}).get(RESERVED_UNTIL, "")
        mine = {one.get("value", "") for one in taints if one.get("key") == RESERVED_TAINT_KEY}
        if mine & set(spared) and self._ahead(until):
            return Result(
                outcome=OperationOutcome.TAKEN, sentence=f"node {node} is kept until {until} for an ask that waits"
            )
        left = [one for one in taints if one.get("key") != RESERVED_TAINT_KEY or not goes(one.get("value", ""))]
        if left != taints:
            told = {RESERVED_BY: None, RESERVED_UNTIL: None}
            changes = {"spec": {"taints": left or None}, "metadata": {"annotations": told}}
            self._objects.patch(node_path(node), found, changes)
        return Result(outcome=OperationOutcome.DONE)

    def _ahead(self, until: str) -> bool:
        """Return whether the time that is written on a node is in the future; an unreadable time counts as past."""
        try:
            at = datetime.fromisoformat(until)
        except ValueError:
            return False
        return at.tzinfo is not None and at.timestamp() * 1000 > self._clock.wall_ms()

    def _admit(self, node: str, ask: PodRef, kept_by: ReservationMethod) -> Result:
        """Let the pending pod tolerate the taint, and nominate it to the node, if it is still unbound."""
        found = self._objects.get(pod_path(ask))
        if found["metadata"].get("uid") != ask.uid or found["metadata"].get("deletionTimestamp"):
            return Result(outcome=OperationOutcome.GONE, sentence="the ask is gone")
        if bound := found.get("spec", {}).get("nodeName"):
            return Result(outcome=OperationOutcome.BOUND, sentence=f"the ask runs on {bound} already")
        if kept_by is ReservationMethod.TAINT:
            found = self._tolerate(ask, found)
            self._reached("tolerated")
        if kept_by is not ReservationMethod.NOTHING and found.get("status", {}).get("nominatedNodeName") != node:
            self._objects.patch(f"{pod_path(ask)}/status", found, {"status": {"nominatedNodeName": node}})
            self._reached("nominated")
            retry_on_conflict(lambda: self._make_way(node, found))
        return Result(outcome=OperationOutcome.DONE)

    def _make_way(self, node: str, ask: Json) -> Result:
        """Clear the nomination of lower-priority pods to the node, so that they look for another node.

        kube-scheduler does this where it preempts itself: otherwise they would wait for capacity that is no longer
        meant for them. A pod that keeps its nomination harms only itself. Source: prepareCandidate of its package
        preemption.
        """
        for pod in self._nominated(node):
            if pod.uid != ask["metadata"].get("uid") and pod.node is None and pod.priority < _priority(ask):
                found = self._objects.get(pod_path(pod))
                if found["metadata"].get("uid") == pod.uid:
                    self._objects.patch(f"{pod_path(pod)}/status", found, {"status": {"nominatedNodeName": None}})
        return Result(outcome=OperationOutcome.DONE)

    def _nominated(self, node: str) -> Iterator[Pod]:
        """Yield the pods that are nominated to a node, as far as they can be read."""
        query: dict[str, str | int] = {"fieldSelector": f"status.nominatedNodeName={node}", "limit": 500}
        body = self._connection.request("GET", "/api/v1/pods", query=query).body
        with suppress(*UNDECODABLE):
            for item in msgspec.json.decode(body, type=ListPage).items or ():
                with suppress(DecodeError):
                    yield POD_READER.from_bytes(item)

    def _tolerate(self, ask: PodRef, found: Json) -> Json:
        tolerations = found.get("spec", {}).get("tolerations") or []
        ours = {"key": RESERVED_TAINT_KEY, "operator": "Equal", "value": ask.uid, "effect": _EFFECT}
        if ours in tolerations:
            return found
        return self._objects.patch(pod_path(ask), found, {"spec": {"tolerations": [*tolerations, ours]}})

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
