"""Writes for the readers of a pod: Events, and a condition of our own."""

import hashlib
from datetime import UTC, datetime

from kubernetes import client

from engine.cluster.acting.objects import CONFLICT, patch_object, read_object, retry_on_conflict
from engine.cluster.acting.outcomes import OperationOutcome, PodRef, Result
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.kubernetes_client import KubernetesClient
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
        self._core = client.CoreV1Api(KubernetesClient(connection))
        self._clock = clock

    def event(self, pod: PodRef, reason: str, message: str, type_: str = "Normal") -> Result:
        """Record an Event of a pod; see Executor.event."""
        return retry_on_conflict(lambda: self._count_event(pod, reason, clip_text(message, LONGEST_MESSAGE), type_))

    def mark(self, victim: PodRef, reason: str, message: str) -> Result:
        """Mark a victim with a condition; see Executor.mark."""
        return retry_on_conflict(lambda: self._set_condition(victim, reason, clip_text(message, LONGEST_MESSAGE)))

    def _set_condition(self, victim: PodRef, reason: str, message: str) -> Result:
        names = victim.name, victim.namespace
        pod = read_object(self._core.read_namespaced_pod, *names)
        if pod["metadata"].get("uid") != victim.uid:
            return Result(outcome=OperationOutcome.GONE, sentence="another pod now has this name")
        condition = {"type": PREEMPTED, "status": "True", "reason": reason, "message": message}
        known = pod.get("status", {}).get("conditions") or ()
        if not any(condition.items() <= condition_of_pod.items() for condition_of_pod in known):
            changes = {"status": {"conditions": [{**condition, "lastTransitionTime": self._now().isoformat()}]}}
            patch = self._core.patch_namespaced_pod_status
            patch_object(patch, *names, current=pod, changes=changes, content_type=_STRATEGIC)
        return Result(outcome=OperationOutcome.DONE)

    def _count_event(self, pod: PodRef, reason: str, message: str, type_: str) -> Result:
        name, now = _event_name(pod, reason, message, type_), self._now()
        event = _event(pod, name, reason, message, type_, now)
        try:
            self._core.create_namespaced_event(pod.namespace, event, _preload_content=False)
        except ApiFailure as error:
            if error.code != CONFLICT:  # a conflict means that the Event exists already
                raise
            known = read_object(self._core.read_namespaced_event, name, pod.namespace)
            again = {"count": (known.get("count") or 1) + 1, "lastTimestamp": now.isoformat()}
            patch_object(self._core.patch_namespaced_event, name, pod.namespace, current=known, changes=again)
        return Result(outcome=OperationOutcome.DONE)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.wall_ms() // 1000, UTC)


def _event_name(pod: PodRef, reason: str, message: str, type_: str) -> str:
    content = "\0".join((pod.uid, type_, reason, message))
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    return f"{pod.name[: _LONGEST_NAME - 17].rstrip('-.')}.{digest}"


def _event(pod: PodRef, name: str, reason: str, message: str, type_: str, now: datetime) -> "client.CoreV1Event":
    return client.CoreV1Event(
        api_version="v1",
        kind="Event",
        metadata=client.V1ObjectMeta(name=name, namespace=pod.namespace),
        involved_object=client.V1ObjectReference(
            api_version="v1", kind="Pod", namespace=pod.namespace, name=pod.name, uid=pod.uid
        ),
        reason=reason,
        message=message,
        type=type_,
        source=client.V1EventSource(component=COMPONENT),
        reporting_component=COMPONENT,
        first_timestamp=now,
        last_timestamp=now,
        count=1,
    )
