"""Writes for the readers of a pod: Events, and a condition of our own."""

import hashlib
from datetime import UTC, datetime

from engine.cluster.acting.objects import CONFLICT, Json, Objects, pod_path, retry_on_conflict
from engine.cluster.acting.outcomes import OperationOutcome, PodRef, Result
from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ApiFailure
from engine.cluster.timing import Clock

COMPONENT = "scheduler-admin"
PREEMPTED = "scheduler-admin.io/Preempted"
"""Our condition on a victim. Not DisruptionTarget: the API server writes that itself and overwrites any value."""
_STRATEGIC = "application/strategic-merge-patch+json"
"""Merges conditions by their type, so that others' conditions are kept."""
LONGEST_MESSAGE = 1024
"""How many bytes an Event's message may have."""
_CLAUSES = (". ", "; ", ", ", ": ", " because ", " while ")
_CUT = "…"
_LONGEST_NAME = 253


def clip_text(text: str, most: int) -> str:
    """Return a text cut to ``most`` bytes of UTF-8, if possible after a whole clause, or else after a whole word."""
    if len(text.encode()) <= most:
        return text
    held = text.encode()[: max(0, most - len(_CUT.encode()))].decode(errors="ignore")
    end = max(held.rfind(mark) for mark in _CLAUSES)
    end = end if end > 0 else held.rfind(" ")
    return f"{held[:end] if end > 0 else held}{_CUT}"


class PodEventWriter:
    """The Events and conditions of one cluster's pods; safe to share between threads."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._objects = Objects(connection)
        self._clock = clock

    def event(self, pod: PodRef, reason: str, message: str, type_: str = "Normal") -> Result:
        """Record an Event of a pod; see Executor.event."""
        return retry_on_conflict(lambda: self._count_event(pod, reason, clip_text(message, LONGEST_MESSAGE), type_))

    def mark(self, victim: PodRef, reason: str, message: str) -> Result:
        """Mark a victim with a condition; see Executor.mark."""
        return retry_on_conflict(lambda: self._set_condition(victim, reason, clip_text(message, LONGEST_MESSAGE)))

    def _set_condition(self, victim: PodRef, reason: str, message: str) -> Result:
        pod = self._objects.get(pod_path(victim))
        if pod["metadata"].get("uid") != victim.uid:
            return Result(outcome=OperationOutcome.GONE, sentence="another pod now has this name")
        condition = {"type": PREEMPTED, "status": "True", "reason": reason, "message": message}
        known = pod.get("status", {}).get("conditions") or ()
        if not any(condition.items() <= condition_of_pod.items() for condition_of_pod in known):
            changes = {"status": {"conditions": [{**condition, "lastTransitionTime": self._now()}]}}
            self._objects.patch(f"{pod_path(victim)}/status", pod, changes, content_type=_STRATEGIC)
        return Result(outcome=OperationOutcome.DONE)

    def _count_event(self, pod: PodRef, reason: str, message: str, type_: str) -> Result:
        name, now = _event_name(pod, reason, message, type_), self._now()
        path = f"/api/v1/namespaces/{pod.namespace}/events"
        try:
            self._objects.create(path, _event(pod, name, reason, message, type_, now))
        except ApiFailure as error:
            if error.code != CONFLICT:  # a conflict means that the Event exists already
                raise
            known = self._objects.get(f"{path}/{name}")
            again = {"count": (known.get("count") or 1) + 1, "lastTimestamp": now}
            self._objects.patch(f"{path}/{name}", known, again)
        return Result(outcome=OperationOutcome.DONE)

    def _now(self) -> str:
        return datetime.fromtimestamp(self._clock.wall_ms() // 1000, UTC).isoformat().replace("+00:00", "Z")


def _event_name(pod: PodRef, reason: str, message: str, type_: str) -> str:
    content = "\0".join((pod.uid, type_, reason, message))
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
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
