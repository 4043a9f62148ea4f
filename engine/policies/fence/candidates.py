"""Guards that decide which pods may be victims under policy ``fence``, and why the others may not.

Source: rules 1 to 7 of YuniKorn's design document "Preemption". Which pods are protected is this product's own rule.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.decision import PodReason
from engine.model.objects import Pod
from engine.model.queue_tree import PriorityPolicy
from engine.model.snapshot.eviction_units import whole_rows
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.pod_index import PodIndex
from engine.policies.fence.victims.preemptable_amounts import AmountsByQueue


class GuaranteeClaim(msgspec.Struct, frozen=True, kw_only=True):
    """The guarantees that a pending pod may claim, and the fence that limits where its victims may be."""

    ask: Pod
    leaf: str
    fence: str | None
    entitling: dict[str, str]
    opted_out: bool
    """Whether pods that opted out may be victims, as a last resort."""


def claim_of(attempt: PreemptionAttempt, *, opted_out: bool) -> GuaranteeClaim:
    """Return the guarantee claim of the pending pod of an attempt. A DaemonSet pod claims no guarantees."""
    ask, leaf = attempt.ask, attempt.leaf
    claims = attempt.entitling if ask.required_node is None else {}
    return GuaranteeClaim(ask=ask, leaf=leaf, fence=attempt.tree.fence(leaf), entitling=claims, opted_out=opted_out)


class BoundPodKinds:
    """The kinds of bound pods, judged as victims of one claim. Arrays of results are indexed by kind."""

    def __init__(self, pod_index: PodIndex, claim: GuaranteeClaim, preemptable_amounts: AmountsByQueue) -> None:
        self.pod_index, self.claim, self.preemptable_amounts = pod_index, claim, preemptable_amounts

    @cached_property
    def reasons(self) -> Numbers:
        """Return for each kind the index of the first guard that excludes its pods, -1 if none does."""
        first = np.full(len(self.pod_index.kinds.each), -1, np.int8)
        for number, guard in reversed(tuple(enumerate(exclusion_guards().values()))):
            first[guard.refuses(self)] = number
        return first

    def of_queues(self, flags: Flags) -> Flags:
        """Return for each kind the flag of its queue. ``flags``: one flag per queue number."""
        return flags[self.pod_index.queue]

    def short_of(self, pod: Pod) -> str:
        """Return the first queue, from the pod's own upwards, that would be below its guarantee without the pod.

        Return an empty text if there is none.
        """
        for path in self.pod_index.tree.lineage(pod.queue or self.pod_index.tree.root):
            number = self.pod_index.number[path]
            if any(
                0 < pod.requests.get(name, 0) > amounts[number] for name, amounts in self.preemptable_amounts.items()
            ):
                return path
        return ""


class Guard(NamedTuple):
    """A rule that excludes pods from being candidates."""

    refuses: Callable[[BoundPodKinds], Flags]
    """Returns for each kind whether the rule excludes its pods."""
    detail: Callable[[BoundPodKinds, Pod], str] = lambda _pod_kinds, _pod: ""
    """Returns the queue, priority or class that explains why a pod is excluded."""


def _without_queue(pod_kinds: BoundPodKinds) -> Flags:
    return np.asarray(pod_kinds.pod_index.queue == pod_kinds.pod_index.nobody, np.bool_)


def _daemonsets(pod_kinds: BoundPodKinds) -> Flags:
    return pod_kinds.pod_index.daemonset


def _shielded(pod_kinds: BoundPodKinds) -> Flags:
    return pod_kinds.pod_index.shielded


def _in_own_queue(pod_kinds: BoundPodKinds) -> Flags:
    """Return for each kind whether its pods are in the preemptor's own queue (invariant 3).

    Preemption only happens between queues.

    Source: rule 3 of YuniKorn's design document "Preemption".
    """
    return np.asarray(pod_kinds.pod_index.queue == pod_kinds.pod_index.queue_of(pod_kinds.claim.leaf), np.bool_)


def _of_own_application(pod_kinds: BoundPodKinds) -> Flags:
    """Return for each kind whether its pods belong to the preemptor's own application (invariant 3).

    Source: rule 3 of YuniKorn's design document "Preemption".
    """
    own = pod_kinds.pod_index.application_of(pod_kinds.claim.ask)
    return np.asarray(pod_kinds.pod_index.application == own, np.bool_)


def _outside_fence(pod_kinds: BoundPodKinds) -> Flags:
    """Return for each kind whether its pods are outside the preemptor's fence (invariant 7).

    Source: rule 7 of YuniKorn's design document "Preemption", and its section on fences.
    """
    fence = pod_kinds.claim.fence
    return pod_kinds.of_queues(
        ~pod_kinds.pod_index.queues.below(fence) if fence else np.zeros(pod_kinds.pod_index.nobody + 1, np.bool_)
    )


def _disabled(pod_kinds: BoundPodKinds) -> Flags:
    # Source: the property preemption.policy in the section on queue configuration of YuniKorn's design document
    # "Preemption".
    return pod_kinds.of_queues(pod_kinds.pod_index.queues.disabled)


def _of_higher_priority(pod_kinds: BoundPodKinds) -> Flags:
    """Return for each kind whether its pods have too high a priority to be victims (invariant 6).

    Source: rule 6 of YuniKorn's design document "Preemption".
    """
    own = pod_kinds.claim.ask.priority
    if not pod_kinds.pod_index.queues.priorities_narrowed:
        return np.asarray(pod_kinds.pod_index.priority > own, np.bool_)
    limits = priority_limits(pod_kinds)
    highest = np.array([*(limits.get(path, own) for path in pod_kinds.pod_index.paths), own], np.int64)
    return np.asarray(pod_kinds.pod_index.priority > highest[pod_kinds.pod_index.queue], np.bool_)


def priority_limits(pod_kinds: BoundPodKinds) -> dict[str, int]:
    """Return for each leaf (by path) the highest priority that a victim there may have.

    A victim's priority never exceeds the preemptor's (invariant 6). YuniKorn's priority.policy and priority.offset may
    lower the limit but never raise it: offsets below the preemptor's fence are subtracted on the way down, as
    yunikorn-core's FindEligiblePreemptionVictims does.
    """
    tree, claim = pod_kinds.pod_index.tree, pod_kinds.claim
    own = claim.ask.priority
    top = claim.fence or tree.root
    on_path: dict[str, int] = {}
    current = own
    for path in tree.lineage(claim.leaf):
        queue = tree[path]
        fenced = queue.priority_policy is PriorityPolicy.FENCE
        current = queue.priority_offset if fenced else current + queue.priority_offset
        on_path[path] = current
        if path == top:
            break
    limits: dict[str, int] = {}

    def descend(path: str, current: int) -> None:
        if tree.is_leaf(path):
            limits[path] = min(own, current)
        for child in tree.children[path]:
            queue = tree[child]
            if child in on_path:
                descend(child, on_path[child])
            elif queue.priority_policy is PriorityPolicy.FENCE:
                # Behind a priority fence, either all pods may be victims or none; invariant 6 still limits each pod.
                whole = own if queue.priority_offset <= current else -(2**31)
                limits.update({leaf: whole for leaf in tree.walk(child) if tree.is_leaf(leaf)})
            else:
                descend(child, current - queue.priority_offset)

    descend(top, on_path[top])
    return limits


def _entitled(pod_kinds: BoundPodKinds) -> Flags:
    """Return for each kind whether its pods are inside a queue whose guarantee is claimed (invariant 4).

    Source: rule 4 of YuniKorn's design document "Preemption", read for several levels.
    """
    inside = np.zeros(pod_kinds.pod_index.nobody + 1, np.bool_)
    for path in pod_kinds.claim.entitling.values():
        inside |= pod_kinds.pod_index.queues.below(path)
    return pod_kinds.of_queues(inside)


def _claimant(pod_kinds: BoundPodKinds, pod: Pod) -> str:
    above = pod_kinds.pod_index.tree.lineage(pod.queue or pod_kinds.pod_index.tree.root)
    return next((path for path in pod_kinds.claim.entitling.values() if path in above), "")


def _opted_out(pod_kinds: BoundPodKinds) -> Flags:
    """Return for each kind whether its pods are excluded because they opted out (invariant 1).

    Source: rule 1 of YuniKorn's design document "Preemption", and its section on priority classes.
    """
    if pod_kinds.claim.opted_out:
        return np.zeros(len(pod_kinds.pod_index.kinds.each), np.bool_)
    return pod_kinds.pod_index.opted_out


def _at_guarantee(pod_kinds: BoundPodKinds) -> Flags:
    """Return for each kind whether the eviction of one pod would violate a guarantee (invariants 2 and 5).

    Source: rules 2 and 5 of YuniKorn's design document "Preemption".
    """
    short = np.zeros(len(pod_kinds.pod_index.kinds.each), np.bool_)
    for resource, preemptable in pod_kinds.preemptable_amounts.items():
        amounts = pod_kinds.pod_index.amounts(resource)
        least = preemptable[pod_kinds.pod_index.ancestors].min(axis=0)[pod_kinds.pod_index.queue]
        short |= (amounts > 0) & np.asarray(amounts > least, np.bool_)
    return short


GUARDS: dict[PodReason, Guard] = {
    PodReason.NO_QUEUE: Guard(_without_queue),
    PodReason.DAEMONSET: Guard(_daemonsets, lambda _, pod: pod.controller),
    PodReason.SHIELDED: Guard(_shielded, lambda _, pod: str(pod.shield)),
    PodReason.SAME_QUEUE: Guard(_in_own_queue, lambda _, pod: pod.queue or ""),
    PodReason.SAME_APPLICATION: Guard(_of_own_application, lambda _, pod: pod.application),
    PodReason.OUTSIDE_FENCE: Guard(_outside_fence, lambda pod_kinds, _: pod_kinds.claim.fence or ""),
    PodReason.DISABLED: Guard(
        _disabled, lambda pod_kinds, pod: pod_kinds.pod_index.tree.disabled_by(pod.queue or "") or ""
    ),
    PodReason.HIGHER_PRIORITY: Guard(_of_higher_priority, lambda _, pod: str(pod.priority)),
    PodReason.ENTITLED_SUBTREE: Guard(_entitled, _claimant),
    PodReason.OPTED_OUT: Guard(_opted_out, lambda _, pod: pod.priority_class),
}
"""Reason why pods that are not terminating are excluded -> its guard. The first reason that applies is reported."""


def exclusion_guards() -> dict[PodReason, Guard]:
    """Return the guards by reason, in order. The last one excludes pods that their queues can't spare."""
    return {**GUARDS, PodReason.GUARANTEE: Guard(_at_guarantee, BoundPodKinds.short_of)}


def _refused_for(reason: PodReason) -> Callable[[PreemptionAttempt], Rows]:
    """Return a function that gives the rows of the pods that safeguards refuse for one reason."""
    return lambda attempt: attempt.restraints.rows(reason)


ROW_GUARDS: dict[PodReason, Callable[[PreemptionAttempt], Rows]] = {
    PodReason.TERMINATING: lambda attempt: attempt.columns.leaving,
    PodReason.PAUSED: _refused_for(PodReason.PAUSED),
    PodReason.OUTSIDE_SCOPE: _refused_for(PodReason.OUTSIDE_SCOPE),
    PodReason.OVER_BUDGET: _refused_for(PodReason.OVER_BUDGET),
    PodReason.WHOLE_GROUP: lambda attempt: whole_rows(attempt.snapshot),
}
"""Reason -> function that gives the rows of the pods that it excludes, whatever else excludes them.

They apply before the guards by kind. A pod that is evicted with its whole group only is no candidate by itself: what
goes whole is a matter of ``groups``.
"""


def candidate_flags(attempt: PreemptionAttempt, reasons: Numbers) -> Flags:
    """Return for each row whether the pod may be evicted for the pending pod.

    ``reasons``: the ``BoundPodKinds.reasons`` of the claim.
    """
    may_go: Flags = np.asarray(reasons < 0, np.bool_)[attempt.pod_index.kinds.of]
    for guard in ROW_GUARDS.values():
        may_go[guard(attempt)] = False
    return may_go


def candidates_on(attempt: PreemptionAttempt, may_go: Flags, place: int) -> Rows:
    """Return the rows of a node's candidates, the most expendable first. ``may_go``: the flags of all candidates."""
    here = attempt.columns.rows(place)
    rows: Rows = attempt.pod_index.order.rows[here.start : here.stop]
    return rows[may_go[rows]]


def count_excluded(attempt: PreemptionAttempt, reasons: Numbers, by_kind: Numbers) -> dict[PodReason, int]:
    """Count the bound pods that are no candidates by reason.

    ``reasons``: as for ``candidate_flags``. ``by_kind``: the number of bound pods that no guard by kind excludes,
    followed by the number that each of these guards excludes.
    """
    counts: dict[PodReason, int] = {}
    excluded = np.zeros(0, np.intp)
    for reason, row_guard in ROW_GUARDS.items():
        rows = row_guard(attempt)
        if not len(rows):
            continue
        rows = rows[~np.isin(rows, excluded)] if len(excluded) else rows
        counts[reason] = len(rows)
        excluded = np.concatenate([excluded, rows]) if len(excluded) else rows
    counted_twice = reasons[attempt.pod_index.kinds.of[excluded]]
    left = by_kind - np.bincount(counted_twice + 1, minlength=len(by_kind))
    counts |= dict(zip(exclusion_guards(), left[1:].tolist(), strict=True))
    return {reason: count for reason, count in counts.items() if count}
