"""Checks for guarantees that no preemption can ever satisfy, whatever is running and whatever is requested."""

from collections.abc import Iterator, Mapping

from engine.model.message import gettext_noop
from engine.model.notes import Note, Severity
from engine.model.quantities import PODS
from engine.model.queue_tree import PriorityPolicy, QueueTree
from engine.tree import reach
from engine.tree.lint.dynamic import with_samples
from engine.tree.lint.found import make_note
from engine.tree.reach import Border, BorderReason, border

_MOST_BORDERS = 100_000
"""The most borders that are looked at; the remaining queues are not judged. Only trees of thousands of queues where
nothing is in reach have more."""

_NO_GUARANTEE = gettext_noop("It has no guarantee, so its pods can’t preempt and can all be preempted.")
_GIVE = gettext_noop("Set a guarantee for it or for a parent queue.")
_NO_PODS = gettext_noop(
    "Its guarantee is 0 pods. A pending pod counts as a pod, so no other guarantee can be claimed either."
)
_TAKE_PODS = gettext_noop("Remove the guarantee of 0 pods, or raise it.")
_NOTHING = gettext_noop(
    "No preemption can ever fulfill its guarantee: a guarantee or max of 0 leaves nothing to claim."
)
_RAISE = gettext_noop("Raise or remove it. The nearest guarantee counts, and so does the max of every parent queue.")
_DISABLED = gettext_noop("%(queue)s disables preemption, so its guarantee helps only while room is free.")
_ENABLE = gettext_noop("Set the preemption policy of %(queue)s to default, or remove the guarantee.")
_MANY = gettext_noop(
    "No preemption can ever fulfill its guarantee: no queue that it could preempt is within reach, for "
    "different reasons."
)
_SEE = gettext_noop("The Fences page shows the reason for each queue.")
_ALONE = gettext_noop("It is the only leaf queue inside the fence of %(queue)s, so it can’t preempt.")
_WIDEN = gettext_noop("Move the fence to a parent of %(queue)s, or remove the guarantee.")
_ELSEWHERE = gettext_noop(
    "Its pods can preempt only while %(queue)s is also below its guarantee of %(resources)s, because no "
    "nearer queue has a guarantee of that."
)
_NEARER = gettext_noop("Set a guarantee of %(resources)s for it too, within that of %(queue)s.")
_SHUT: dict[BorderReason, tuple[str, str]] = {
    BorderReason.DISABLED: (
        gettext_noop(
            "No preemption can ever fulfill its guarantee: preemption is disabled in every queue that it could preempt."
        ),
        gettext_noop("Set the preemption policy of %(queue)s to default."),
    ),
    BorderReason.SHARED_GUARANTEE: (
        gettext_noop(
            "No preemption can ever fulfill its guarantee: the guarantee is that of %(queue)s, and every "
            "queue that it could preempt is also below %(queue)s."
        ),
        gettext_noop("Give the queue its own guarantee, within that of %(queue)s."),
    ),
    BorderReason.PRIORITY_FENCE: (
        gettext_noop(
            "No preemption can ever fulfill its guarantee: priority fences, such as that of %(queue)s, "
            "rank all possible victims above its pending pods."
        ),
        gettext_noop("Raise its priority offset, or lower that of %(queue)s."),
    ),
    BorderReason.OVER_MAX: (
        gettext_noop(
            "No preemption can ever fulfill its guarantee: the max of %(queue)s has no room for another "
            "pod, even after evictions."
        ),
        gettext_noop("Raise the max pods of %(queue)s."),
    ),
}


def claims(tree: QueueTree) -> Iterator[Note]:
    """Yield leaves without a guarantee, and leaves whose guarantee no preemption can satisfy.

    A leaf that is a fence itself is reported by ``effects``. Leaves that may be created count as queues to preempt in.
    """
    whole, borders_left = with_samples(tree), _MOST_BORDERS
    takeable, guaranteed, claimed = _takeable(whole), _guaranteed(tree), reach.claims_of_all(whole)
    for path in tree.leaves:
        if disabled := tree.disabled_by(path):
            if tree[path].guaranteed:
                yield make_note(Severity.WARNING, path, _DISABLED, _ENABLE, "preemption_policy", queue=disabled)
        elif path not in guaranteed:
            yield make_note(Severity.WARNING, path, _NO_GUARANTEE, _GIVE, "guaranteed")
        elif tree.fence(path) != path and borders_left > 0 and not _surely_open(whole, path, claimed[path], takeable):
            notes, looked = _judged(whole, path)
            borders_left -= looked
            yield from notes
        yield from _elsewhere(path, claimed[path])


def _elsewhere(leaf: str, claimed: Mapping[str, str]) -> Iterator[Note]:
    """Yield a warning for each queue above the nearest guarantee that must be below its guarantee too.

    Once that queue has all that it is guaranteed, the leaf may claim nothing, whatever it is short of. A pending pod
    that wants one of the queue's resources waits for them. Source: the fourth invariant of the policy.
    """
    nearest = max(claimed.values(), key=len, default="")
    for queue in sorted(set(claimed.values()) - {nearest}):
        resources = ", ".join(sorted(name for name, at in claimed.items() if at == queue))
        params = {"queue": queue, "resources": resources}
        yield make_note(Severity.WARNING, leaf, _ELSEWHERE, _NEARER, "guaranteed", **params)


def _guaranteed(tree: QueueTree) -> set[str]:
    """Return the queues to which anything is guaranteed, by themselves or by a queue above."""
    guaranteed: set[str] = set()
    for path in tree.walk():
        if tree.parents[path] in guaranteed or any(tree.queues[path].guaranteed.values()):
            guaranteed.add(path)
    return guaranteed


def _takeable(tree: QueueTree) -> dict[str, int]:
    """Return how many leaves in each subtree let their pods be evicted.

    Return nothing if more than that decides about borders: a max in pods, or a priority fence.
    """
    queues = tree.queues.values()
    if any(PODS in queue.max or queue.priority_policy is PriorityPolicy.FENCE for queue in queues):
        return {}
    counts: dict[str, int] = {}
    for path in reversed(tree.walk()):
        children = tree.children[path]
        open_leaf = not children and tree.is_leaf(path) and not tree.disabled_by(path)
        counts[path] = sum(counts[child] for child in children) if children else int(open_leaf)
    return counts


def _surely_open(tree: QueueTree, leaf: str, claimed: Mapping[str, str], takeable: Mapping[str, int]) -> bool:
    """Return whether there surely is a leaf to preempt in.

    It is inside the leaf's fence, and outside the queue whose guarantee the leaf claims. So it is for nearly every leaf
    of nearly every tree. Otherwise, or where more counts, the borders are looked at.
    """
    if not claimed or not takeable:
        return False
    shared = claimed[PODS] if PODS in claimed else max(claimed.values(), key=len)
    return takeable[tree.fence(leaf) or tree.root] > takeable[shared]


def _judged(tree: QueueTree, leaf: str) -> tuple[list[Note], int]:
    """Return why nothing is in reach of a leaf with a guarantee, if nothing is, and how many borders were looked at."""
    if not reach.claims(tree, leaf):
        pods = tree.entitling(leaf, PODS)
        message, remedy = (_NO_PODS, _TAKE_PODS) if pods and not tree[pods].guaranteed[PODS] else (_NOTHING, _RAISE)
        return [make_note(Severity.WARNING, leaf, message, remedy, "guaranteed")], 1
    looked, shut = 0, dict[BorderReason, Border]()
    for crossed in _borders(tree, leaf):
        looked += 1
        if crossed.allowed:
            return [], looked
        shut.setdefault(crossed.reason, crossed)
    if len(shut) > 1:
        return [make_note(Severity.WARNING, leaf, _MANY, _SEE, "guaranteed")], looked
    fence = tree.fence(leaf)
    if not shut and fence and len(tree.leaves) > 1:  # no fence matters to the only leaf of a tree
        return [make_note(Severity.WARNING, leaf, _ALONE, _WIDEN, "preemption_policy", queue=fence)], looked
    return [_shut(leaf, crossed) for crossed in shut.values()], looked


def _shut(leaf: str, shut_border: Border) -> Note:
    message, remedy = _SHUT[shut_border.reason]
    return make_note(Severity.WARNING, leaf, message, remedy, "guaranteed", queue=shut_border.queue)


def _borders(tree: QueueTree, leaf: str) -> Iterator[Border]:
    """Yield the borders towards the other leaves inside the leaf's fence, the nearest first.

    Of leaves that branch off at one queue and share the leaf's claims, only the first is looked at.
    """
    below, fence = leaf, tree.fence(leaf)
    for above in tree.lineage(leaf)[1:]:
        beside = (child for child in tree.children[above] if child != below)
        for other in (path for child in beside for path in tree.walk(child) if tree.is_leaf(path)):
            next_border = border(tree, leaf, other)
            yield next_border
            if next_border.reason is BorderReason.SHARED_GUARANTEE:
                break  # this is so for all that branches off here
        if above == fence:
            return
        below = above
