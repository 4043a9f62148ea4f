"""Who may preempt, by guarantees: each guard says why not, None when it lets the ask pass."""

from collections.abc import Callable

from engine.feasibility import unsupported_rules
from engine.model.decision import Reason
from engine.policies.common.attempt import PreemptionAttempt

Guard = Callable[[PreemptionAttempt], str | None]
"""What the reason's sentence names, perhaps nothing; None: the ask may pass."""


def _of_no_queue(attempt: PreemptionAttempt) -> str | None:
    return "" if attempt.ask.queue is None else None


def _unread_rules(attempt: PreemptionAttempt) -> str | None:
    rules = unsupported_rules(attempt.snapshot, attempt.ask)
    return ", ".join(rules) if rules else None


def _never(attempt: PreemptionAttempt) -> str | None:
    return attempt.ask.priority_class if attempt.ask.never_preempts else None


def _disabled(attempt: PreemptionAttempt) -> str | None:
    return attempt.tree.disabled_by(attempt.leaf)


def _not_known(attempt: PreemptionAttempt) -> str | None:
    """The queue whose usage counts for the ask and isn't known: a bound pod in it, or the ask, can't be read."""
    tree, leaf = attempt.tree, attempt.leaf
    counts = [path for path in tree.lineage(leaf) if tree[path].max or tree[path].guaranteed]
    within = ((path, pod) for path in (leaf, *counts) for pod in attempt.snapshot.unread_for(attempt.ask))
    return next((path for path, pod in within if pod.queue and tree.contains(path, pod.queue)), None)


def _no_guarantee(attempt: PreemptionAttempt) -> str | None:
    """Law 4, except for DaemonSets: something that is asked is guaranteed."""
    return None if attempt.entitling or attempt.ask.required_node is not None else attempt.leaf


def _at_guarantee(attempt: PreemptionAttempt) -> str | None:
    """Law 4, except for DaemonSets: the queue is below the entitling guarantee in every resource that has one."""
    if attempt.ask.required_node is not None:
        return None
    for resource, path in attempt.entitling.items():
        if attempt.used(path, resource) >= attempt.tree[path].guaranteed[resource]:
            return f"{path} {resource}"
    return None


def _over_max(attempt: PreemptionAttempt) -> str | None:
    """The ask's own queue gives nothing that could make room under its max."""
    over = (name for name in attempt.tree[attempt.leaf].max if attempt.over_max(attempt.leaf, name) > 0)
    return next((f"{attempt.leaf} {name}" for name in over), None)


def _not_tried(attempt: PreemptionAttempt) -> str | None:
    return "" if attempt.ask.unschedulable_ms is None else None


def _delayed(attempt: PreemptionAttempt) -> str | None:
    due = due_ms(attempt)
    return "" if due is not None and attempt.snapshot.now_ms < due else None


def due_ms(attempt: PreemptionAttempt) -> int | None:
    """When the ask may preempt; None when it was not found unschedulable yet."""
    since = attempt.ask.unschedulable_ms
    return None if since is None else since + attempt.tree.delay_ms(attempt.leaf)


UNDECIDABLE: dict[Reason, Guard] = {Reason.NO_QUEUE: _of_no_queue, Reason.UNREAD_RULES: _unread_rules}
"""Why nothing can be said of an ask at all."""

GUARDS: dict[Reason, Guard] = {
    Reason.NEVER: _never,
    Reason.DISABLED: _disabled,
    Reason.UNREAD: _not_known,
    Reason.NO_GUARANTEE: _no_guarantee,
    Reason.AT_GUARANTEE: _at_guarantee,
    Reason.OVER_MAX: _over_max,
}
"""Why an ask that fits nowhere may not preempt."""

WAITS: dict[Reason, Guard] = {Reason.NOT_TRIED: _not_tried, Reason.DELAY: _delayed}
"""Why it may not preempt yet: these pass by themselves."""
