"""The victims on a node, and additional victims on other nodes, under YuniKorn's rules.

Source: calculateVictimsByNode, calculateAdditionalVictims and TryPreemption of yunikorn-core.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts, add, total
from engine.policies.yunikorn.queue_balances import QueueBalances, fits

EMPTY = 2**35
"""The rating of a node without candidates: worse than any other, although it needs no victims."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The victims that would be evicted on one node."""

    node: Node
    free: Amounts
    index: int
    """The index of the last victim that is needed for the pending pod to fit, -1 if none is needed."""
    victims: tuple[Pod, ...]
    """The needed victims, followed by all other pods that could be evicted after them."""
    score: int = 0


def on_node(balances: QueueBalances, ask: Pod, node: Node, free: Amounts, candidates: Sequence[Pod]) -> Plan | None:
    """Return the plan of victims on a node, None if all candidates don't make enough room.

    ``candidates``: the pods that may be victims, in the order in which they are considered.

    Source: calculateVictimsByNode of yunikorn-core.
    """
    here = fits(ask.requests, free)
    if here and balances.quirks.other_nodes:
        return Plan(node=node, free=free, index=-1, victims=())
    first = _useful_first(balances.copy(), ask, free, candidates)
    trial, now, index, taken = balances.copy(), free, -1, list[Pod]()
    for pod in first:
        if not can_spare(trial, ask, pod):
            continue
        trial.remove(pod.queue or "", pod.requests)
        now = add(now, pod.requests)
        if index < 0 and not here and fits(ask.requests, now):
            index = len(taken)
        taken.append(pod)
    index = len(taken) - 1 if here else index
    return None if index < 0 else Plan(node=node, free=free, index=index, victims=tuple(taken))


def can_spare(balances: QueueBalances, ask: Pod, pod: Pod) -> bool:
    """Return whether the pod's queue can spare it, given what is left of its guarantee before the pod is evicted."""
    preemptor_leaf = ask.queue or ""
    remaining = balances.remaining(pod.queue or "", preemptor_leaf)
    if remaining is not None and all(remaining.get(resource, 0) >= 0 for resource in ask.requests):
        return False
    if not balances.quirks.leaf_below and not balances.keeps_leaf(pod):
        return False
    return balances.quirks.parent_below or balances.keeps_parents(pod, ask)


def _useful_first(trial: QueueBalances, ask: Pod, free: Amounts, candidates: Sequence[Pod]) -> list[Pod]:
    """Return the candidates that may be evicted, those first that reduce what is missing on the node.

    Each victim's requests are charged to the preemptor's queue. The list ends where they exceed its guarantee.
    """
    head, tail = list[Pod](), list[Pod]()
    for pod in candidates:
        if not can_spare(trial, ask, pod):
            continue
        if not charge(trial, ask, pod):
            break
        if _missing(ask, free) == _missing(ask, add(free, pod.requests)):
            refund(trial, ask, pod)
            tail.append(pod)
        else:
            free = add(free, pod.requests)
            head.append(pod)
    return head + tail


def charge(trial: QueueBalances, ask: Pod, pod: Pod) -> bool:
    """Move what a pod holds from its queue to the preemptor's queue, if the latter's guarantee allows it.

    Return whether it does. If not, the balances are unchanged.
    """
    trial.remove(pod.queue or "", pod.requests)
    trial.add(ask.queue or "", pod.requests)
    if trial.quirks.victims_charged and _exceeds_guarantee(trial, ask, pod.requests):
        refund(trial, ask, pod)
        return False
    return True


def _exceeds_guarantee(trial: QueueBalances, ask: Pod, resources: Iterable[str]) -> bool:
    """Return whether the preemptor's queue exceeds its guarantee in any of these resources.

    Without quirk ``whole_ask``, its usage must also have grown by more than the pending pod requests.
    """
    preemptor_leaf = ask.queue or ""
    remaining = trial.remaining(preemptor_leaf, preemptor_leaf) or {}
    over = [name for name in resources if remaining.get(name, 0) < 0]
    return any(
        trial.quirks.whole_ask or trial.gained(preemptor_leaf, name) > ask.requests.get(name, 0) for name in over
    )


def refund(trial: QueueBalances, ask: Pod, pod: Pod) -> None:
    """Undo the effect of ``charge`` for a pod."""
    trial.remove(ask.queue or "", pod.requests)
    trial.add(pod.queue or "", pod.requests)


def _missing(ask: Pod, free: Amounts) -> Amounts:
    return {name: amount - free.get(name, 0) for name, amount in ask.requests.items() if amount > free.get(name, 0)}


def additional_victims(
    balances: QueueBalances, ask: Pod, chosen: Sequence[Pod], others: Iterable[Pod]
) -> list[Pod] | None:
    """Return additional victims, on any node, within the guarantee of the preemptor's queue.

    Return None if the queue would exceed its guarantee. ``others``: all other candidates in the order in which they are
    considered.

    Source: calculateAdditionalVictims of yunikorn-core.
    """
    trial, found, preemptor_leaf = balances.copy(), list[Pod](), ask.queue or ""
    for pod in chosen:
        trial.remove(pod.queue or "", pod.requests)
    counted = (trial.remaining(preemptor_leaf, preemptor_leaf) or {}).keys()
    for pod in others:
        if not can_spare(trial, ask, pod):
            continue
        if not charge(trial, ask, pod):
            break
        if any(pod.requests.get(name, 0) for name in counted):
            found.append(pod)
        else:
            refund(trial, ask, pod)
    short = balances.quirks.victims_charged and _exceeds_guarantee(trial, ask, ask.requests)
    return None if found and short else found


def final_victims(
    balances: QueueBalances, ask: Pod, plan: Plan, victims: Sequence[Pod], lacking: Callable[[Sequence[Pod]], bool]
) -> tuple[Pod, ...] | None:
    """Return the final victims, None if they are considered too small for the pending pod.

    ``lacking``: returns whether something besides amounts keeps the pending pod out once these pods are gone.

    Source: the end of Preemptor.TryPreemption of yunikorn-core.
    """
    quirks, here = balances.quirks, fits(ask.requests, plan.free) and balances.quirks.other_nodes
    going = [pod for pod in victims if here or pod.node == plan.node.name]
    counted = {} if quirks.free_space_ignored or here else plan.free
    taken, gone = list[Pod](), Amounts()
    for pod in going:
        enough = bool(counted or not quirks.two_victims) and fits(ask.requests, add(counted, gone))
        if not enough and (not quirks.two_victims or _greater(ask.requests, gone)):
            taken.append(pod)
        gone = add(gone, pod.requests)
    if quirks.free_space_ignored and _greater(ask.requests, gone):
        return None
    for pod in (*going, *plan.victims):
        if pod not in taken and lacking(taken):
            taken.append(pod)
    if not quirks.no_reprieve and not here:
        taken = _reprieved(ask, plan.free, taken, lacking)
    short = not quirks.two_victims and not fits(ask.requests, add(plan.free, total(pod.requests for pod in taken)))
    return None if short or not taken or lacking(taken) else tuple(taken)


def _reprieved(ask: Pod, free: Amounts, taken: Sequence[Pod], lacking: Callable[[Sequence[Pod]], bool]) -> list[Pod]:
    """Return the victims that remain after pods which are not needed were reprieved, the last ones first."""
    left = list(taken)
    for pod in reversed(taken):
        rest = [other for other in left if other is not pod]
        if fits(ask.requests, add(free, total(other.requests for other in rest))) and not lacking(rest):
            left = rest
    return left


def _greater(ask: Amounts, other: Amounts) -> bool:
    """Return whether ``ask`` is greater in some resource and smaller in none, among those that both amounts name.

    Source: StrictlyGreaterThanOnlyExisting.
    """
    if not other:
        return all(amount > 0 for amount in ask.values())
    both = [(amount, other[name]) for name, amount in ask.items() if name in other]
    return not both or (all(one >= two for one, two in both) and any(one > two for one, two in both))
