"""Who may be a victim under policy ``fence``, and why everybody else may not."""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from engine.model.columns.node_columns import Flags, Numbers, Rows
from engine.model.decision import PodReason
from engine.model.objects import Pod
from engine.model.queue_tree import PriorityPolicy
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.common.pod_index import PodIndex
from engine.policies.fence.preemptable_amounts import Spared


class GuaranteeClaim(msgspec.Struct, frozen=True, kw_only=True):
    """What an ask is entitled to and how far it reaches."""

    ask: Pod
    leaf: str
    fence: str | None
    entitling: dict[str, str]
    opted_out: bool
    """Whether pods that opted out may be taken: the last resort."""


def claim_of(attempt: PreemptionAttempt, *, opted_out: bool) -> GuaranteeClaim:
    """What the ask of a attempt may claim."""
    ask, leaf = attempt.ask, attempt.leaf
    claims = attempt.entitling if ask.required_node is None else {}
    return GuaranteeClaim(ask=ask, leaf=leaf, fence=attempt.tree.fence(leaf), entitling=claims, opted_out=opted_out)


class BoundPodKinds:
    """The bound pods that a claim is held against, kind by kind."""

    def __init__(self, ground: PodIndex, claim: GuaranteeClaim, spared: Spared) -> None:
        self.ground, self.claim, self.spared = ground, claim, spared

    @cached_property
    def reasons(self) -> Numbers:
        """Kind -> the number in ``excluding`` of the first reason why its pods are no candidates, -1 when they are."""
        first = np.full(len(self.ground.kinds.each), -1, np.int64)
        for number, guard in reversed(tuple(enumerate(excluding().values()))):
            first[guard.refuses(self)] = number
        return first

    def of_queues(self, flags: Flags) -> Flags:
        """Kind -> what is so of its queue."""
        return flags[self.ground.queue]

    def short_of(self, pod: Pod) -> str:
        """The first queue, from the pod's own upwards, that would be below its guarantee without the pod."""
        for path in self.ground.tree.lineage(pod.queue or self.ground.tree.root):
            number = self.ground.number[path]
            if any(0 < pod.requests.get(name, 0) > spare[number] for name, spare in self.spared.items()):
                return path
        return ""


class Guard(NamedTuple):
    """Keeps pods from being candidates."""

    refuses: Callable[[BoundPodKinds], Flags]
    """By kind."""
    detail: Callable[[BoundPodKinds, Pod], str] = lambda _field, _pod: ""
    """The queue, priority or class that is meant."""


def _nobodys(field: BoundPodKinds) -> Flags:
    return np.asarray(field.ground.queue == field.ground.nobody, np.bool_)


def _daemonsets(field: BoundPodKinds) -> Flags:
    return field.ground.daemonset


def _shielded(field: BoundPodKinds) -> Flags:
    return field.ground.shielded


def _in_own_queue(field: BoundPodKinds) -> Flags:
    """Law 3, and preemption is between queues."""
    return np.asarray(field.ground.queue == field.ground.queue_of(field.claim.leaf), np.bool_)


def _of_own_application(field: BoundPodKinds) -> Flags:
    """Law 3."""
    ask = field.claim.ask
    own = field.ground.applications.get((ask.namespace, ask.application), -1)
    return np.asarray(field.ground.application == own, np.bool_)


def _outside_fence(field: BoundPodKinds) -> Flags:
    """Law 7."""
    fence = field.claim.fence
    return field.of_queues(~field.ground.below(fence) if fence else np.zeros(field.ground.nobody + 1, np.bool_))


def _disabled(field: BoundPodKinds) -> Flags:
    return field.of_queues(field.ground.disabled)


def _of_higher_priority(field: BoundPodKinds) -> Flags:
    """Law 6."""
    own = field.claim.ask.priority
    if not field.ground.priorities_narrowed:
        return np.asarray(field.ground.priority > own, np.bool_)
    limits = priority_limits(field)
    highest = np.array([*(limits.get(path, own) for path in field.ground.paths), own], np.int64)
    return np.asarray(field.ground.priority > highest[field.ground.queue], np.bool_)


def priority_limits(field: BoundPodKinds) -> dict[str, int]:
    """Leaf -> the highest priority that may be taken there.

    The pods' own priorities always bound it (law 6). YuniKorn's priority.policy and priority.offset may narrow that,
    never widen it: offsets below the asker's fence are taken off on the way down, as yunikorn-core's
    FindEligiblePreemptionVictims does.
    """
    tree, claim = field.ground.tree, field.claim
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
                # Behind a priority fence all are taken or none; law 6 still bounds each.
                whole = own if queue.priority_offset <= current else -(2**31)
                limits.update({leaf: whole for leaf in tree.walk(child) if tree.is_leaf(leaf)})
            else:
                descend(child, current - queue.priority_offset)

    descend(top, on_path[top])
    return limits


def _entitled(field: BoundPodKinds) -> Flags:
    """Law 4: nothing from inside the queue whose guarantee is claimed."""
    inside = np.zeros(field.ground.nobody + 1, np.bool_)
    for path in field.claim.entitling.values():
        inside |= field.ground.below(path)
    return field.of_queues(inside)


def _claimant(field: BoundPodKinds, pod: Pod) -> str:
    above = field.ground.tree.lineage(pod.queue or field.ground.tree.root)
    return next((path for path in field.claim.entitling.values() if path in above), "")


def _opted_out(field: BoundPodKinds) -> Flags:
    """Law 1."""
    if field.claim.opted_out:
        return np.zeros(len(field.ground.kinds.each), np.bool_)
    return field.ground.opted_out


def _at_guarantee(field: BoundPodKinds) -> Flags:
    """Laws 2 and 5, of one pod alone."""
    short = np.zeros(len(field.ground.kinds.each), np.bool_)
    for resource, spare in field.spared.items():
        amounts = field.ground.amounts(resource)
        least = spare[field.ground.line].min(axis=0)[field.ground.queue]
        short |= (amounts > 0) & np.asarray(amounts > least, np.bool_)
    return short


GUARDS: dict[PodReason, Guard] = {
    PodReason.NO_QUEUE: Guard(_nobodys),
    PodReason.DAEMONSET: Guard(_daemonsets, lambda _, pod: pod.controller),
    PodReason.SHIELDED: Guard(_shielded, lambda _, pod: str(pod.shield)),
    PodReason.SAME_QUEUE: Guard(_in_own_queue, lambda _, pod: pod.queue or ""),
    PodReason.SAME_APPLICATION: Guard(_of_own_application, lambda _, pod: pod.application),
    PodReason.OUTSIDE_FENCE: Guard(_outside_fence, lambda field, _: field.claim.fence or ""),
    PodReason.DISABLED: Guard(_disabled, lambda field, pod: field.ground.tree.disabled_by(pod.queue or "") or ""),
    PodReason.HIGHER_PRIORITY: Guard(_of_higher_priority, lambda _, pod: str(pod.priority)),
    PodReason.ENTITLED_SUBTREE: Guard(_entitled, _claimant),
    PodReason.OPTED_OUT: Guard(_opted_out, lambda _, pod: pod.priority_class),
}
"""Why pods that are not on their way out are no candidates; the first reason is told."""


def excluding() -> dict[PodReason, Guard]:
    """The guards, and last what their queues can't spare of pods alone."""
    return {**GUARDS, PodReason.GUARANTEE: Guard(_at_guarantee, BoundPodKinds.short_of)}


def _because(reason: PodReason) -> Callable[[PreemptionAttempt], Rows]:
    """The rows of those whom safeguards refuse for one reason."""
    return lambda attempt: attempt.restraints.rows(reason)


ROW_GUARDS: dict[PodReason, Callable[[PreemptionAttempt], Rows]] = {
    PodReason.TERMINATING: lambda attempt: attempt.columns.leaving,
    PodReason.PAUSED: _because(PodReason.PAUSED),
    PodReason.OUTSIDE_SCOPE: _because(PodReason.OUTSIDE_SCOPE),
    PodReason.OVER_BUDGET: _because(PodReason.OVER_BUDGET),
}
"""The rows of those that are none before all others: what changes within a pass."""
