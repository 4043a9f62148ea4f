"""Parsing of the conditions of Kueue's Workloads that report a preemption.

Source: Kueue's pkg/scheduler/preemption, for the words. A preempted Workload gets two conditions with the same message:
``Preempted``, whose reason says which kind of preemption it was, and ``Evicted`` with the reason ``Preempted``; the
oldest versions set only the latter. Both become false once the Workload is admitted again. The message has one of these
forms:

    Preempted to accommodate a higher priority Workload
    Preempted to accommodate a workload (UID: <uid>) due to <words>
    Preempted to accommodate a workload (UID: <uid>, JobUID: <uid>) due to <words>
    the same; preemptor path: /<cohort>/<ClusterQueue>; preemptee path: /<cohort>/<ClusterQueue>

The oldest versions write the first form, the newest the last. A value that Kueue does not know is ``UNKNOWN``.
"""

import re
from collections.abc import Iterable

from engine.formats.kubernetes.convert import to_ms
from engine.formats.kubernetes.wire import Condition, ObjectMeta
from engine.model.objects import Preempted

_UID, _PATH, _UNKNOWN = r"[-\w.]{1,64}", r"(?:/[-\w.]{1,253}){1,50}|UNKNOWN", "UNKNOWN"
"""Anybody who may write a Workload's status can set the message, so text that can't be a valid name is rejected."""
_FORM = re.compile(
    rf"Preempted to accommodate a workload \(UID: (?P<uid>{_UID})(?:, JobUID: (?P<job>{_UID}))?\) due to [^;]*"
    rf"(?:; preemptor path: (?P<ask_place>{_PATH}); preemptee path: (?P<place>{_PATH}))?",
    re.ASCII,
)
_WHY = re.compile(r"[A-Za-z]{1,40}", re.ASCII)
_PREEMPTED = "Preempted"
"""Type of the condition, and the reason of the condition Evicted."""


def to_preempted(conditions: Iterable[Condition], meta: ObjectMeta, admitted: str) -> Preempted | None:
    """Return the preemption that the conditions of a Workload report; None if they report none.

    ``admitted`` is the ClusterQueue that the Workload is admitted to, or empty. Raise ValueError for a preemption
    without a time.
    """
    condition = _preempted(conditions)
    if condition is None:
        return None
    if condition.last_transition_time is None:
        raise ValueError("it has no time of the preemption")
    form = _FORM.fullmatch((condition.message or "").strip())
    parts = {name: "" if text == _UNKNOWN else text for name, text in form.groupdict("").items()} if form else {}
    reason = condition.reason or ""
    return Preempted(
        uid=meta.uid or "",
        namespace=meta.namespace or "default",
        name=meta.name or "",
        at_ms=to_ms(condition.last_transition_time),
        ask_uid=parts.get("uid", ""),
        ask_kind="Workload",
        ask_application=f"job {parts['job']}" if parts.get("job") else "",
        why=reason if _WHY.fullmatch(reason) and condition.type == _PREEMPTED else "",
        place=parts.get("place") or (f"/{admitted}" if admitted else ""),
        ask_place=parts.get("ask_place", ""),
    )


def _preempted(conditions: Iterable[Condition]) -> Condition | None:
    """Return the condition with the most detail about a preemption; None if there is none."""
    true_conditions = {condition.type: condition for condition in conditions if condition.status == "True"}
    evicted = true_conditions.get("Evicted")
    return true_conditions.get(_PREEMPTED) or (evicted if evicted and evicted.reason == _PREEMPTED else None)
