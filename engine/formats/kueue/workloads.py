"""Kueue's Workloads, and what their conditions say of a preemption.

Source: Kueue's pkg/scheduler/preemption, for the words. A Workload that is preempted gets the conditions ``Preempted``,
whose reason says which way, and ``Evicted`` with the reason ``Preempted`` (at first that alone), both with the same
message; both turn false once it is admitted again. The message takes one of these forms:

    Preempted to accommodate a higher priority Workload
    Preempted to accommodate a workload (UID: <uid>) due to <words>
    Preempted to accommodate a workload (UID: <uid>, JobUID: <uid>) due to <words>
    the same; preemptor path: /<cohort>/<ClusterQueue>; preemptee path: /<cohort>/<ClusterQueue>

The first is of the oldest versions, the last of the newest. What is not known is ``UNKNOWN`` there.
"""

import re

from engine.formats.kubernetes_convert import to_ms
from engine.formats.kubernetes_wire import Condition, ObjectMeta, WorkloadObject, WorkloadSpec, WorkloadStatus
from engine.snapshot import Preempted, Workload

_UID, _PATH, _UNKNOWN = r"[-\w.]{1,64}", r"(?:/[-\w.]{1,253}){1,50}|UNKNOWN", "UNKNOWN"
"""Whoever may write a Workload's status writes what stands there: what could name nothing is kept out."""
_FORM = re.compile(
    rf"Preempted to accommodate a workload \(UID: (?P<uid>{_UID})(?:, JobUID: {_UID})?\) due to [^;]*"
    rf"(?:; preemptor path: (?P<ask_place>{_PATH}); preemptee path: (?P<place>{_PATH}))?",
    re.ASCII,
)
_WHY = re.compile(r"[A-Za-z]{1,40}", re.ASCII)
_PREEMPTED = "Preempted"
"""A condition's type, and the reason of the condition Evicted."""


def to_workload(workload: WorkloadObject) -> Workload:
    """What is read of it. Raises ValueError for one without a name or uid, and for a preemption without a time."""
    meta, status = workload.metadata, workload.status or WorkloadStatus()
    if not meta.name or not meta.uid:
        raise ValueError("it has no metadata.name, or no metadata.uid")
    owners = meta.owner_references or ()
    admitted = (status.admission.cluster_queue if status.admission else None) or ""
    condition = _preempted(status.conditions or ())
    return Workload(
        uid=meta.uid,
        namespace=meta.namespace or "default",
        name=meta.name,
        owners=tuple(f"{one.kind or ''}/{one.name or ''}" for one in owners),
        priority=(workload.spec or WorkloadSpec()).priority or 0,
        cluster_queue=admitted,
        preempted=_told(condition, meta, admitted) if condition else None,
    )


def _preempted(conditions: tuple[Condition, ...]) -> Condition | None:
    """The condition that says most of it."""
    true = {one.type: one for one in conditions if one.status == "True"}
    evicted = true.get("Evicted")
    return true.get(_PREEMPTED) or (evicted if evicted and evicted.reason == _PREEMPTED else None)


def _told(condition: Condition, meta: ObjectMeta, admitted: str) -> Preempted:
    if condition.last_transition_time is None:
        raise ValueError("it does not say when it was preempted")
    form = _FORM.fullmatch((condition.message or "").strip())
    told = {name: "" if text == _UNKNOWN else text for name, text in form.groupdict("").items()} if form else {}
    reason = condition.reason or ""
    return Preempted(
        uid=meta.uid or "",
        namespace=meta.namespace or "default",
        name=meta.name or "",
        at_ms=to_ms(condition.last_transition_time),
        ask_uid=told.get("uid", ""),
        ask_kind="Workload",
        why=reason if _WHY.fullmatch(reason) and condition.type == _PREEMPTED else "",
        place=told.get("place") or (f"/{admitted}" if admitted else ""),
        ask_place=told.get("ask_place", ""),
    )
