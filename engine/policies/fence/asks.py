"""Who may preempt under policy ``fence``: each guard says why not, None when it lets the ask pass."""

from collections.abc import Callable

from engine.decision import Reason
from engine.feasibility import unjudged
from engine.policies.fence.question import Question

Guard = Callable[[Question], str | None]
"""What the reason's sentence names, perhaps nothing; None: the ask may pass."""


def _of_no_queue(question: Question) -> str | None:
    return "" if question.ask.queue is None else None


def _unread_rules(question: Question) -> str | None:
    rules = unjudged(question.snapshot, question.ask)
    return ", ".join(rules) if rules else None


def _never(question: Question) -> str | None:
    return question.ask.priority_class if question.ask.never_preempts else None


def _disabled(question: Question) -> str | None:
    return question.tree.disabled_by(question.leaf)


def _not_known(question: Question) -> str | None:
    """The queue whose usage counts for the ask and isn't known: a bound pod in it, or the ask, can't be read."""
    tree, leaf = question.tree, question.leaf
    counts = [path for path in tree.lineage(leaf) if tree[path].max or tree[path].guaranteed]
    within = ((path, pod) for path in (leaf, *counts) for pod in question.snapshot.unread_for(question.ask))
    return next((path for path, pod in within if pod.queue and tree.contains(path, pod.queue)), None)


def _no_guarantee(question: Question) -> str | None:
    """Law 4, except for DaemonSets: something that is asked is guaranteed."""
    return None if question.entitling or question.ask.required_node is not None else question.leaf


def _at_guarantee(question: Question) -> str | None:
    """Law 4, except for DaemonSets: the queue is below the entitling guarantee in every resource that has one."""
    if question.ask.required_node is not None:
        return None
    for resource, path in question.entitling.items():
        if question.used(path, resource) >= question.tree[path].guaranteed[resource]:
            return f"{path} {resource}"
    return None


def _over_max(question: Question) -> str | None:
    """The ask's own queue gives nothing that could make room under its max."""
    over = (name for name in question.tree[question.leaf].max if question.over_max(question.leaf, name) > 0)
    return next((f"{question.leaf} {name}" for name in over), None)


def _not_tried(question: Question) -> str | None:
    return "" if question.ask.unschedulable_ms is None else None


def _delayed(question: Question) -> str | None:
    due = due_ms(question)
    return "" if due is not None and question.snapshot.now_ms < due else None


def due_ms(question: Question) -> int | None:
    """When the ask may preempt; None when it was not found unschedulable yet."""
    since = question.ask.unschedulable_ms
    return None if since is None else since + question.tree.delay_ms(question.leaf)


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
