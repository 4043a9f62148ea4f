"""Guards that decide whether a pending pod may preempt, judged by guarantees of queues.

Each guard returns why the pod may not preempt, or None if the pod passes.

Source: rule 4 of YuniKorn's design document "Preemption", and its sections on the preemption logic and on queue
configuration.
"""

from collections.abc import Callable

from engine.feasibility import unsupported_rules
from engine.model.decision import Reason
from engine.model.snapshot.gangs import placeholder_for
from engine.policies.common.attempt import PreemptionAttempt

Guard = Callable[[PreemptionAttempt], str | None]
"""Returns the detail that the reason's sentence names (possibly an empty text), or None if the pending pod passes."""


def _of_no_queue(attempt: PreemptionAttempt) -> str | None:
    return "" if attempt.ask.queue is None else None


def _unread_rules(attempt: PreemptionAttempt) -> str | None:
    rules = unsupported_rules(attempt.snapshot, attempt.ask)
    return ", ".join(rules) if rules else None


def _placeholder(attempt: PreemptionAttempt) -> str | None:
    found = placeholder_for(attempt.snapshot, attempt.ask)
    return None if found is None else found.key


def _never(attempt: PreemptionAttempt) -> str | None:
    # Source: preemptionPolicy of Kubernetes' PriorityClass, which YuniKorn's design document "Preemption" keeps.
    return attempt.ask.priority_class if attempt.ask.never_preempts else None


def _disabled(attempt: PreemptionAttempt) -> str | None:
    # Source: preemption.policy in YuniKorn's design document "Preemption". That it also forbids to preempt is this
    # product's own reading.
    return attempt.tree.disabled_by(attempt.leaf)


def _unknown_usage(attempt: PreemptionAttempt) -> str | None:
    """Return the queue whose usage counts for the pending pod but is unknown.

    The usage is unknown if a bound pod in the queue, or the pending pod itself, can't be read.
    """
    tree, leaf = attempt.tree, attempt.leaf
    counts = [path for path in tree.lineage(leaf) if tree[path].max or tree[path].guaranteed]
    within = ((path, pod) for path in (leaf, *counts) for pod in attempt.snapshot.unread_for(attempt.ask))
    return next((path for path, pod in within if pod.queue and tree.contains(path, pod.queue)), None)


def _no_guarantee(attempt: PreemptionAttempt) -> str | None:
    """Return the leaf if none of the requested resources is guaranteed (invariant 4; DaemonSet pods are exempt).

    Source: rule 4 of YuniKorn's design document "Preemption".
    """
    return None if attempt.entitling or attempt.ask.required_node is not None else attempt.leaf


def _at_guarantee(attempt: PreemptionAttempt) -> str | None:
    """Return the first entitling queue, and the resource, in which usage has reached the guarantee.

    Invariant 4: usage must be below the guarantee in every resource that has one. DaemonSet pods are exempt.

    Source: rule 4 of YuniKorn's design document "Preemption".
    """
    if attempt.ask.required_node is not None:
        return None
    for resource, path in attempt.entitling.items():
        if attempt.used(path, resource) >= attempt.tree[path].guaranteed[resource]:
            return f"{path} {resource}"
    return None


def _over_max(attempt: PreemptionAttempt) -> str | None:
    """Return the pending pod's queue and the resource in which it would exceed its max.

    Evictions can't help there, because no victims are taken from the pod's own queue.
    """
    over = (name for name in attempt.tree[attempt.leaf].max if attempt.over_max(attempt.leaf, name) > 0)
    return next((f"{attempt.leaf} {name}" for name in over), None)


def _not_tried(attempt: PreemptionAttempt) -> str | None:
    return "" if attempt.ask.unschedulable_ms is None else None


def _delayed(attempt: PreemptionAttempt) -> str | None:
    due = due_ms(attempt)
    return "" if due is not None and attempt.snapshot.now_ms < due else None


def due_ms(attempt: PreemptionAttempt) -> int | None:
    """Return from when on the pending pod may preempt, None if the scheduler has not found it unschedulable yet.

    Source: preemption.delay in the section on queue configuration of YuniKorn's design document "Preemption".
    """
    since = attempt.ask.unschedulable_ms
    return None if since is None else since + attempt.tree.delay_ms(attempt.leaf)


UNDECIDABLE: dict[Reason, Guard] = {
    Reason.NO_QUEUE: _of_no_queue,
    Reason.UNREAD_RULES: _unread_rules,
    Reason.PLACEHOLDER: _placeholder,
}
"""Reasons why no decision is possible for a pending pod -> the guard that checks it."""

GUARDS: dict[Reason, Guard] = {
    Reason.NEVER: _never,
    Reason.DISABLED: _disabled,
    Reason.UNREAD: _unknown_usage,
    Reason.NO_GUARANTEE: _no_guarantee,
    Reason.AT_GUARANTEE: _at_guarantee,
    Reason.OVER_MAX: _over_max,
}
"""Reasons why a pending pod that fits on no node may not preempt -> the guard that checks it."""

WAITS: dict[Reason, Guard] = {Reason.NOT_TRIED: _not_tried, Reason.DELAY: _delayed}
"""Reasons why a pending pod may not preempt yet, which resolve with time -> the guard that checks it."""
