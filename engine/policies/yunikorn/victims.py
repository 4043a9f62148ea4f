"""Which pods go on a node, and which more go elsewhere, under YuniKorn's rules.

Source: calculateVictimsByNode, calculateAdditionalVictims and TryPreemption of yunikorn-core.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from engine.model.objects import Node, Pod
from engine.model.quantities import Amounts, add, total
from engine.policies.yunikorn.queue_balances import QueueBalances, fits

EMPTY = 2**35
"""What a node without any candidate is rated: worse than all others, though nothing would have to go there."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What would go on one node."""

    node: Node
    free: Amounts
    index: int
    """With the pods up to here gone the ask fits; -1: it fits as it is."""
    victims: tuple[Pod, ...]
    """Those, and all others that might go after them."""
    score: int = 0


def on_node(books: QueueBalances, ask: Pod, node: Node, free: Amounts, candidates: Sequence[Pod]) -> Plan | None:
    """What would have to go on a node, None where all that may go makes no room. ``candidates``: in their order."""
    here = fits(ask.requests, free)
    if here and books.quirks.other_nodes:
        return Plan(node=node, free=free, index=-1, victims=())
    first = _useful_first(books.copy(), ask, free, candidates)
    trial, now, index, taken = books.copy(), free, -1, list[Pod]()
    for pod in first:
        if not spare(trial, ask, pod):
            continue
        trial.remove(pod.queue or "", pod.requests)
        now = add(now, pod.requests)
        if index < 0 and not here and fits(ask.requests, now):
            index = len(taken)
        taken.append(pod)
    index = len(taken) - 1 if here else index
    return None if index < 0 else Plan(node=node, free=free, index=index, victims=tuple(taken))


def spare(books: QueueBalances, ask: Pod, pod: Pod) -> bool:
    """Whether the pod's queue may lose it, by what is left of its guarantee while the pod is still there."""
    asker = ask.queue or ""
    remaining = books.remaining(pod.queue or "", asker)
    if remaining is not None and all(remaining.get(resource, 0) >= 0 for resource in ask.requests):
        return False
    if not books.quirks.leaf_below and not books.keeps_leaf(pod):
        return False
    return books.quirks.parent_below or books.keeps_parents(pod, ask)


def _useful_first(trial: QueueBalances, ask: Pod, free: Amounts, candidates: Sequence[Pod]) -> list[Pod]:
    """The candidates that may go, those that lessen what is missing on the node before the others.

    As if the asker's queue got each of them: it ends where that would be more than is left of its guarantee.
    """
    head, tail = list[Pod](), list[Pod]()
    for pod in candidates:
        if not spare(trial, ask, pod):
            continue
        if not charged(trial, ask, pod):
            break
        if _missing(ask, free) == _missing(ask, add(free, pod.requests)):
            refund(trial, ask, pod)
            tail.append(pod)
        else:
            free = add(free, pod.requests)
            head.append(pod)
    return head + tail


def charged(trial: QueueBalances, ask: Pod, pod: Pod) -> bool:
    """Move what a pod holds from its queue to the asker's; whether its guarantee allows for that, else undone."""
    trial.remove(pod.queue or "", pod.requests)
    trial.add(ask.queue or "", pod.requests)
    if trial.quirks.victims_charged and _beyond(trial, ask, pod.requests):
        refund(trial, ask, pod)
        return False
    return True


def _beyond(trial: QueueBalances, ask: Pod, resources: Iterable[str]) -> bool:
    """Whether the asker's queue is beyond its guarantee in any of these, by more than the ask where it need not fit."""
    asker = ask.queue or ""
    remaining = trial.remaining(asker, asker) or {}
    over = [name for name in resources if remaining.get(name, 0) < 0]
    return any(trial.quirks.whole_ask or trial.gained(asker, name) > ask.requests.get(name, 0) for name in over)


def refund(trial: QueueBalances, ask: Pod, pod: Pod) -> None:
    """Undo ``charged``."""
    trial.remove(ask.queue or "", pod.requests)
    trial.add(pod.queue or "", pod.requests)


def _missing(ask: Pod, free: Amounts) -> Amounts:
    return {name: amount - free.get(name, 0) for name, amount in ask.requests.items() if amount > free.get(name, 0)}


def more(books: QueueBalances, ask: Pod, chosen: Sequence[Pod], others: Iterable[Pod]) -> list[Pod] | None:
    """Further victims, on whatever node, within the asker's guarantee; None: the asker would end up beyond it.

    ``others``: all other candidates in their order.
    """
    trial, found, asker = books.copy(), list[Pod](), ask.queue or ""
    for pod in chosen:
        trial.remove(pod.queue or "", pod.requests)
    counted = (trial.remaining(asker, asker) or {}).keys()
    for pod in others:
        if not spare(trial, ask, pod):
            continue
        if not charged(trial, ask, pod):
            break
        if any(pod.requests.get(name, 0) for name in counted):
            found.append(pod)
        else:
            refund(trial, ask, pod)
    short = books.quirks.victims_charged and _beyond(trial, ask, ask.requests)
    return None if found and short else found


def trimmed(
    books: QueueBalances, ask: Pod, plan: Plan, victims: Sequence[Pod], lacking: Callable[[Sequence[Pod]], bool]
) -> tuple[Pod, ...] | None:
    """Those of the victims that go in the end; None where they are called short of the ask.

    ``lacking``: whether with these pods gone something besides amounts still keeps the ask out.
    """
    quirks, here = books.quirks, fits(ask.requests, plan.free) and books.quirks.other_nodes
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
    """The victims without those that may stay, the last ones first."""
    left = list(taken)
    for pod in reversed(taken):
        rest = [other for other in left if other is not pod]
        if fits(ask.requests, add(free, total(other.requests for other in rest))) and not lacking(rest):
            left = rest
    return left


def _greater(ask: Amounts, other: Amounts) -> bool:
    """Whether an ask is more in some resource and less in none, of those that both name.

    Source: StrictlyGreaterThanOnlyExisting.
    """
    if not other:
        return all(amount > 0 for amount in ask.values())
    both = [(amount, other[name]) for name, amount in ask.items() if name in other]
    return not both or (all(one >= two for one, two in both) and any(one > two for one, two in both))
