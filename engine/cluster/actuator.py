"""Acts on a cluster: reserve a node, evict, tell. The only verbs: get, list, patch, create; never delete."""

import hashlib
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from engine.cluster.connection import MERGE_PATCH, Connection
from engine.cluster.errors import ApiFailure, ClusterError, ConnectionFailure
from engine.cluster.outcomes import EvictionOutcome, EvictionResult, Outcome, PodRef, Result, reserved_for
from engine.cluster.timing import Clock
from engine.feasibility.nodes import RESERVED_TAINT_KEY
from engine.formats.kubernetes import DecodeError, node_from_bytes
from engine.formats.kubernetes_wire import ListPage
from engine.snapshot import Node

COMPONENT = "scheduler-admin"
_ATTEMPTS = 5
_LONGEST_MESSAGE = 1024
_LONGEST_NAME = 253
_EFFECT = "NoSchedule"
_BUDGET_CAUSE = "DisruptionBudget"
_TWO_BUDGETS = "more than one PodDisruptionBudget"

Json = dict[str, Any]


class Actuator:
    """The real executor (outcomes.Executor); safe to share between threads."""

    def __init__(
        self,
        connection: Connection,
        *,
        nodes: Callable[[], Iterable[Node]] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """``nodes`` tells the nodes as last seen (a watcher's), to spare ``sweep`` from listing them."""
        self._connection = connection
        self._nodes = nodes or self._listed_nodes
        self._clock = clock or Clock()

    def reserve(self, node: str, ask: PodRef) -> Result:
        """Taint first, so that the room is kept before anyone may use it; undone if the ask turns out not to wait."""
        result = _settled(lambda: self._taint(node, ask.uid))
        if not result.done:
            return result
        result = _settled(lambda: self._nominate(node, ask))
        if result.outcome in (Outcome.GONE, Outcome.BOUND, Outcome.REFUSED):
            undone = self.release(node, ask.uid)
            return result if undone.done else undone
        return result

    def release(self, node: str, ask_uid: str) -> Result:
        """See Executor."""
        return _settled(lambda: self._untaint(node, lambda owner: owner == ask_uid))

    def sweep(self, open_ask_uids: Collection[str]) -> tuple[str, ...]:
        """See Executor. A node that can't be freed now is left to the next sweep."""
        kept = frozenset(open_ask_uids)
        try:
            stale = sorted(node.name for node in self._nodes() if reserved_for(node) - kept)
        except ClusterError:
            return ()
        return tuple(name for name in stale if self._sweep(name, kept).done)

    def evict(self, victim: PodRef, *, dry_run: bool = False) -> EvictionResult:
        """See Executor. No grace period is sent: the pod's own holds."""
        options: Json = {"preconditions": {"uid": victim.uid}}
        if dry_run:
            options["dryRun"] = ["All"]
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": victim.name, "namespace": victim.namespace},
            "deleteOptions": options,
        }
        query = {"dryRun": "All"} if dry_run else None
        try:
            self._connection.request("POST", f"{_pod_path(victim)}/eviction", query=query, body=body)
        except ApiFailure as error:
            return self._judged(victim, error)
        except ConnectionFailure as error:
            return EvictionResult(outcome=EvictionOutcome.RETRY, sentence=str(error))
        return EvictionResult(outcome=EvictionOutcome.ACCEPTED)

    def event(self, pod: PodRef, reason: str, message: str, type_: str = "Normal") -> Result:
        """See Executor."""
        return _settled(lambda: self._count_event(pod, reason, message[:_LONGEST_MESSAGE], type_))

    # Reservations

    def _sweep(self, node: str, kept: frozenset[str]) -> Result:
        return _settled(lambda: self._untaint(node, lambda owner: owner not in kept))

    def _taint(self, node: str, ask_uid: str) -> Result:
        found = self._get(_node_path(node))
        taints = found.get("spec", {}).get("taints") or []
        ours = [taint for taint in taints if taint.get("key") == RESERVED_TAINT_KEY]
        if any(taint.get("value") != ask_uid for taint in ours):
            return Result(outcome=Outcome.TAKEN, sentence=f"node {node} is kept for another ask")
        if not ours:
            taint = {"key": RESERVED_TAINT_KEY, "value": ask_uid, "effect": _EFFECT}
            self._patch(_node_path(node), found, {"spec": {"taints": [*taints, taint]}})
        return Result(outcome=Outcome.DONE)

    def _untaint(self, node: str, goes: Callable[[str], bool]) -> Result:
        try:
            found = self._get(_node_path(node))
        except ApiFailure as error:
            if error.code == 404:  # noqa: PLR2004 - a node that is gone is not kept for anyone
                return Result(outcome=Outcome.DONE)
            raise
        taints = found.get("spec", {}).get("taints") or []
        left = [one for one in taints if one.get("key") != RESERVED_TAINT_KEY or not goes(one.get("value", ""))]
        if left != taints:
            self._patch(_node_path(node), found, {"spec": {"taints": left or None}})
        return Result(outcome=Outcome.DONE)

    def _nominate(self, node: str, ask: PodRef) -> Result:
        found = self._get(_pod_path(ask))
        spec, meta = found.get("spec", {}), found["metadata"]
        if meta.get("uid") != ask.uid or meta.get("deletionTimestamp"):
            return Result(outcome=Outcome.GONE, sentence="the ask is gone")
        if spec.get("nodeName"):
            return Result(outcome=Outcome.BOUND, sentence=f"the ask runs on {spec['nodeName']} already")
        tolerations = spec.get("tolerations") or []
        toleration = {"key": RESERVED_TAINT_KEY, "operator": "Equal", "value": ask.uid, "effect": _EFFECT}
        if toleration not in tolerations:
            found = self._patch(_pod_path(ask), found, {"spec": {"tolerations": [*tolerations, toleration]}})
        if found.get("status", {}).get("nominatedNodeName") != node:
            self._patch(f"{_pod_path(ask)}/status", found, {"status": {"nominatedNodeName": node}})
        return Result(outcome=Outcome.DONE)

    def _listed_nodes(self) -> Iterable[Node]:
        query: dict[str, str | int] = {"limit": 500}
        while True:
            body = self._connection.request("GET", "/api/v1/nodes", query=query).body
            try:
                page = msgspec.json.decode(body, type=ListPage)
                yield from [node_from_bytes(item) for item in page.items or ()]
            except (msgspec.DecodeError, DecodeError) as error:
                raise ConnectionFailure("the list of nodes can't be read") from error
            if not page.metadata.continue_:
                return
            query["continue"] = page.metadata.continue_

    # Evictions

    def _judged(self, victim: PodRef, error: ApiFailure) -> EvictionResult:
        outcome = _eviction_outcome(error)
        if error.code == 409:  # noqa: PLR2004 - the UID differs, or others changed the pod at the same time
            outcome = EvictionOutcome.GONE if self._replaced(victim) else EvictionOutcome.RETRY
        return EvictionResult(
            outcome=outcome,
            sentence=str(error),
            budget=outcome is EvictionOutcome.HELD and _BUDGET_CAUSE in error.causes,
            retry_after_s=error.retry_after_s,
        )

    def _replaced(self, victim: PodRef) -> bool:
        try:
            return bool(self._get(_pod_path(victim))["metadata"].get("uid") != victim.uid)
        except ApiFailure as error:
            return error.code == 404  # noqa: PLR2004 - HTTP's not found
        except ConnectionFailure:
            return False

    # Events

    def _count_event(self, pod: PodRef, reason: str, message: str, type_: str) -> Result:
        name = _event_name(pod, reason, message, type_)
        now = datetime.fromtimestamp(self._clock.wall_ms() // 1000, UTC).isoformat().replace("+00:00", "Z")
        path = f"/api/v1/namespaces/{pod.namespace}/events"
        try:
            self._connection.request("POST", path, body=_event(pod, name, reason, message, type_, now))
        except ApiFailure as error:
            if error.code != 409:  # noqa: PLR2004 - HTTP's conflict: it has been said before
                raise
            known = self._get(f"{path}/{name}")
            again = {"count": (known.get("count") or 1) + 1, "lastTimestamp": now}
            self._patch(f"{path}/{name}", known, again)
        return Result(outcome=Outcome.DONE)

    def _get(self, path: str) -> Json:
        return _object(self._connection.request("GET", path).body)

    def _patch(self, path: str, found: Json, changes: Json) -> Json:
        """Change what was found, and nothing that has changed since: the version makes it a compare-and-swap."""
        meta = found["metadata"]
        guard = {"metadata": {"uid": meta.get("uid"), "resourceVersion": meta.get("resourceVersion")}}
        return _object(self._connection.request("PATCH", path, body=guard | changes, content_type=MERGE_PATCH).body)


def _object(body: bytes) -> Json:
    try:
        found = msgspec.json.decode(body, type=Json)
    except msgspec.DecodeError as error:
        raise ConnectionFailure("the API server's answer can't be read") from error
    if not isinstance(found.get("metadata"), dict):
        raise ConnectionFailure("the API server's answer is no object")
    return found


def _settled(step: Callable[[], Result]) -> Result:
    """Do a step, from its reading on again while others change the object; failures become results."""
    for attempt in range(_ATTEMPTS):
        try:
            return step()
        except ApiFailure as error:
            if error.code == 409 and attempt + 1 < _ATTEMPTS:  # noqa: PLR2004 - HTTP's conflict
                continue
            return Result(outcome=_outcome(error), sentence=str(error), retry_after_s=error.retry_after_s)
        except ConnectionFailure as error:
            return Result(outcome=Outcome.RETRY, sentence=str(error))
    raise AssertionError  # the last attempt returns


def _outcome(error: ApiFailure) -> Outcome:
    match error.code:
        case 404 | 410:
            return Outcome.GONE
        case 408 | 409 | 429:
            return Outcome.RETRY
        case code:
            return Outcome.REFUSED if code < 500 else Outcome.RETRY  # noqa: PLR2004 - HTTP's server errors


def _eviction_outcome(error: ApiFailure) -> EvictionOutcome:
    match error.code:
        case 404 | 410:
            return EvictionOutcome.GONE
        case 429:
            return EvictionOutcome.HELD
        case 422:
            return EvictionOutcome.BLOCKED
        case 500 if _TWO_BUDGETS in error.message:
            return EvictionOutcome.BLOCKED
        case 408:
            return EvictionOutcome.RETRY
        case code:
            return EvictionOutcome.REFUSED if code < 500 else EvictionOutcome.RETRY  # noqa: PLR2004


def _node_path(node: str) -> str:
    return f"/api/v1/nodes/{node}"


def _pod_path(pod: PodRef) -> str:
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"


def _event_name(pod: PodRef, reason: str, message: str, type_: str) -> str:
    said = "\0".join((pod.uid, type_, reason, message))
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    return f"{pod.name[: _LONGEST_NAME - 17].rstrip('-.')}.{digest}"


def _event(pod: PodRef, name: str, reason: str, message: str, type_: str, now: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": pod.namespace},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": pod.uid,
        },
        "reason": reason,
        "message": message,
        "type": type_,
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
