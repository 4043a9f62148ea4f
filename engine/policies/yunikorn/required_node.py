"""The victims for a DaemonSet pod, which requires one node, under YuniKorn's rules.

Source: PreemptionContext of yunikorn-core (required_node_preemptor.go).
"""

from collections.abc import Callable, Sequence
from functools import cmp_to_key

import msgspec

from engine.model.objects import Pod
from engine.model.quantities import Amounts, add, subtract, total
from engine.model.queue_tree import QueueTree
from engine.policies.yunikorn.queue_balances import QueueBalances, fits


class RequiredNodeRules(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about the required node and its pods that the choice of victims depends on."""

    free: Amounts
    """The free capacity of the node."""
    opted_out: Callable[[Pod], bool]
    kept_out: Callable[[Sequence[Pod]], bool]
    """Returns whether something besides amounts keeps the pending pod out once these pods are gone."""


def victims(balances: QueueBalances, ask: Pod, pods: Sequence[Pod], rules: RequiredNodeRules) -> tuple[Pod, ...]:
    """Return the victims among a node's pods, none if they don't make enough room."""
    if balances.quirks.daemonset_regardless and fits(ask.requests, rules.free):
        return ()
    candidates = [pod for pod in pods if _candidate(balances, ask, pod)]
    willing = [pod for pod in candidates if not rules.opted_out(pod)]
    rounds = [candidates] if balances.quirks.opted_out_taken else [willing, candidates]
    return next((found for some in rounds if (found := _of(balances, ask, some, rules))), ())


def _of(balances: QueueBalances, ask: Pod, candidates: Sequence[Pod], rules: RequiredNodeRules) -> tuple[Pod, ...]:
    """Return the victims among the candidates, none if they don't make enough room."""
    quirks, trial, taken = balances.quirks, balances.copy(), list[Pod]()
    counted = {} if quirks.daemonset_spree else rules.free

    def enough(some: Sequence[Pod], counted: Amounts) -> bool:
        covered = _covers(add(counted, total(pod.requests for pod in some)), ask.requests)
        return covered and (quirks.daemonset_regardless or not rules.kept_out(some))

    def before(one: Pod, other: Pod) -> int:
        return _compare(one, other, rules.opted_out)

    for pod in sorted(candidates, key=cmp_to_key(before)):
        if enough(taken, counted):
            break
        if quirks.daemonset_below or (trial.keeps_leaf(pod) and trial.keeps_parents(pod, ask)):
            trial.remove(pod.queue or "", pod.requests)
            taken.append(pod)
    if not quirks.no_reprieve:
        for pod in reversed(taken.copy()):
            rest = [other for other in taken if other is not pod]
            taken = rest if enough(rest, rules.free) else taken
    return tuple(taken) if enough(taken, rules.free) else ()


def _covers(room: Amounts, wanted: Amounts) -> bool:
    """Return whether there is enough of every resource, even of those not wanted, which must not be negative.

    Source: StrictlyGreaterThanOrEquals.
    """
    return all(room.get(name, 0) >= wanted.get(name, 0) for name in {**room, **wanted})


def _candidate(balances: QueueBalances, ask: Pod, pod: Pod) -> bool:
    daemons = pod.required_node is not None or (pod.daemonset and not balances.quirks.daemonset_by_affinity)
    if pod.queue is None or daemons or pod.priority > ask.priority or pod.terminating:
        return False
    if balances.quirks.daemonset_unbounded:
        return True
    own = (pod.namespace, pod.application) == (ask.namespace, ask.application)
    return not own and within_reach(balances.tree, ask.queue or "", pod.queue)


def within_reach(tree: QueueTree, preemptor_leaf: str, queue: str) -> bool:
    """Return whether a queue differs from the preemptor's, is inside its fence, and does not disable preemption."""
    fence = tree.fence(preemptor_leaf) or tree.root
    return queue != preemptor_leaf and tree.contains(fence, queue) and tree.disabled_by(queue) is None


def _compare(one: Pod, other: Pod, opted_out: Callable[[Pod], bool]) -> int:
    """Compare two candidates; the result is negative if ``one`` is evicted first.

    The order is by kind, lower priority and later creation. If these are equal and one pod requests less, it is first.

    Source: SortAllocations of yunikorn-core (preemption_utilities.go).
    """
    left, right = (
        (_kind(pod, opted_out=opted_out(pod)), pod.priority, -(pod.created_ms // 1000)) for pod in (one, other)
    )
    if left != right:
        return -1 if left < right else 1
    delta = [amount for amount in subtract(one.requests, other.requests).values() if amount]
    if delta and (all(amount > 0 for amount in delta) or all(amount < 0 for amount in delta)):
        return 1 if delta[0] > 0 else -1
    return -1 if one.key < other.key else 1


def _kind(pod: Pod, *, opted_out: bool) -> int:
    return 3 if pod.originator else 2 if opted_out else 1
