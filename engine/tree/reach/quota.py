"""Which queues may preempt which under policies ``cohort`` and ``fair-share``.

Queues of one cohort reclaim what others borrow; a fence is the border of a cohort.
"""

from collections.abc import Hashable
from functools import lru_cache, partial

from engine.model.queue_tree import QueueTree, Take
from engine.model.quota.tree_reading import FLAVOR, DerivedQuota, QuotaReading, derive_quota, preemption_of
from engine.tree.reach.barriers import nearest_common
from engine.tree.reach.borders import Border, BorderReason, Fences, Promise, Reach


@lru_cache(maxsize=16)  # the same one for the same reading, by which pages keep what they found
def by_quota(reading: QuotaReading, *, fair: bool) -> Reach:
    """Return which queues may preempt which if the tree is read as quota.

    ``fair``: under fair sharing, where any queue may preempt while it borrows.
    """
    policy = "fair-share" if fair else "cohort"
    border = partial(_border, reading, fair)
    kind = partial(_kind, reading)
    return Reach(policy=policy, border=border, kind=kind, fences=Fences.BOTH_WAYS, promise=Promise.QUOTA, within=True)


def _border(reading: QuotaReading, fair: bool, tree: QueueTree, preemptor: str, victim: str) -> Border:
    reason, queue = _shut(tree, preemptor, victim, reading, fair=fair) or _open(tree, preemptor, victim, reading)
    return Border(preemptor=preemptor, victim=victim, reason=reason, queue=queue)


def _kind(reading: QuotaReading, tree: QueueTree, leaf: str) -> Hashable:
    """Return the settings of a leaf that borders depend on: its rules, and whether it has quota, and may borrow."""
    quota, preemption = _formed(tree, reading), preemption_of(tree, leaf, reading)
    return (
        tree[leaf].preemption_policy,
        (preemption.within, preemption.reclaim, preemption.borrow.allowed),
        _has_quota(quota, tree, leaf, tree[leaf].parent or leaf),
        _may_borrow(quota, leaf),
    )


def _shut(
    tree: QueueTree, preemptor: str, victim: str, reading: QuotaReading, *, fair: bool
) -> tuple[BorderReason, str] | None:
    if disabled := tree.disabled_by(preemptor) or tree.disabled_by(victim):
        return BorderReason.DISABLED, disabled
    preemption = preemption_of(tree, preemptor, reading)
    if preemptor == victim:
        return (BorderReason.TAKES_WITHIN_NEVER, preemptor) if preemption.within is Take.NEVER else None
    if border := _between(tree, preemptor, victim):
        return BorderReason.COHORT_BORDER, border
    if preemption.reclaim is Take.NEVER:
        return BorderReason.TAKES_NEVER, preemptor
    common = nearest_common(tree, preemptor, victim)
    if fair or preemption.borrow.allowed or _has_quota(_formed(tree, reading), tree, preemptor, common):
        return None
    return BorderReason.NO_QUOTA, common


def _between(tree: QueueTree, preemptor: str, victim: str) -> str | None:
    """Return the fence that contains only one of the two leaves, the preemptor's own first; None if there is none."""
    preemptor_fence, victim_fence = tree.fence(preemptor), tree.fence(victim)
    if preemptor_fence == victim_fence:
        return None
    return preemptor_fence if preemptor_fence and not tree.contains(preemptor_fence, victim) else victim_fence


def _open(tree: QueueTree, preemptor: str, victim: str, reading: QuotaReading) -> tuple[BorderReason, str]:
    if preemptor == victim:
        return BorderReason.OWN_QUEUE, preemptor
    if not _may_borrow(_formed(tree, reading), victim):
        return BorderReason.NO_BORROWING, victim
    return BorderReason.SAME_COHORT, nearest_common(tree, preemptor, victim)


@lru_cache(maxsize=8)  # callers query each tree for all of its leaves in a row
def _formed(tree: QueueTree, reading: QuotaReading) -> DerivedQuota:
    return derive_quota(tree, reading)


def _has_quota(quota: DerivedQuota, tree: QueueTree, preemptor: str, common: str) -> bool:
    """Return whether the preemptor, or a cohort around it below the common one, has quota of its own to reclaim."""
    line = tree.lineage(preemptor)
    nodes = [quota.tree.queue[preemptor], *(quota.tree.cohort[path] for path in line[1 : line.index(common)])]
    return any(quota.tree.columns[FLAVOR, name].own[node] > 0 for name in quota.resources for node in nodes)


def _may_borrow(quota: DerivedQuota, queue: str) -> bool:
    names = [name for group in quota.queues[queue].groups for name in group.resources]
    limits = [quota.tree.columns[FLAVOR, name].limits[quota.tree.queue[queue]] for name in names]
    return not limits or any(limit is None or limit > 0 for limit in limits)
