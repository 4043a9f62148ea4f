"""Which pods go for a DaemonSet's ask, which is for one node, under YuniKorn's rules.

Source: PreemptionContext of yunikorn-core (required_node_preemptor.go).
"""

from collections.abc import Callable, Sequence
from functools import cmp_to_key

from engine.policies.yunikorn.books import Books
from engine.queues import QueueTree
from engine.resources import Amounts, add, subtract, total
from engine.snapshot import Pod


def victims(
    books: Books, ask: Pod, free: Amounts, pods: Sequence[Pod], opted_out: Callable[[Pod], bool]
) -> tuple[Pod, ...]:
    """Who goes of a node's pods; none where that does not make the room. ``free``: what is free there now."""
    candidates = [pod for pod in pods if _candidate(books, ask, pod)]
    taken: list[Pod] = []
    trial = books.copy()

    def before(one: Pod, other: Pod) -> int:
        return _compare(one, other, opted_out)

    for pod in sorted(candidates, key=cmp_to_key(before)):
        counted = {} if books.quirks.daemonset_spree else free
        if _covers(add(counted, total(other.requests for other in taken)), ask.requests):
            break
        if books.quirks.daemonset_below or (trial.keeps_leaf(pod) and trial.keeps_parents(pod, ask.queue or "")):
            trial.remove(pod.queue or "", pod.requests)
            taken.append(pod)
    room = add(free, total(pod.requests for pod in taken))
    return tuple(taken) if taken and _covers(room, ask.requests) else ()


def _covers(room: Amounts, wanted: Amounts) -> bool:
    """Whether there is enough of everything, also of what is not wanted. Source: StrictlyGreaterThanOrEquals."""
    return all(room.get(name, 0) >= wanted.get(name, 0) for name in {**room, **wanted})


def _candidate(books: Books, ask: Pod, pod: Pod) -> bool:
    if pod.queue is None or pod.required_node or pod.priority > ask.priority or pod.terminating:
        return False
    if books.quirks.daemonset_unbounded:
        return True
    return pod.application != ask.application and within_reach(books.tree, ask.queue or "", pod.queue)


def within_reach(tree: QueueTree, asker: str, queue: str) -> bool:
    """Whether a queue is another one than the asker's, inside its fence, and lets its pods be taken."""
    fence = tree.fence(asker) or tree.root
    return queue != asker and tree.contains(fence, queue) and tree.disabled_by(queue) is None


def _compare(one: Pod, other: Pod, opted_out: Callable[[Pod], bool]) -> int:
    """Below zero where ``one`` goes first: by kind, lower priority, later creation; then not the greater."""
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
