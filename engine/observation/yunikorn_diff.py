"""Compare a queue's settings and usage in YuniKorn with those here."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from engine.formats.tree_json.durations import format_duration
from engine.formats.yunikorn.rest import TheirQueue
from engine.model.quantities import Amounts, format_amount
from engine.model.queue_tree import PreemptionPolicy, QueueTree
from engine.model.snapshot import Snapshot


class Aspect(StrEnum):
    """The property of a queue that differs."""

    UNKNOWN_HERE = "unknown-here"
    UNKNOWN_THERE = "unknown-there"
    GUARANTEED = "guaranteed"
    MAX = "max"
    USED = "used"
    PREEMPTING = "preempting"
    """YuniKorn counts more resources as being preempted than terminating pods hold here."""
    FENCE = "fence"
    DISABLED = "disabled"
    DELAY = "delay"


class QueueDifference(msgspec.Struct, frozen=True, kw_only=True):
    """One difference between both views of a queue; values are formatted as people type them, empty if unset."""

    queue: str
    aspect: Aspect
    resource: str = ""
    ours: str = ""
    theirs: str = ""


def queue_differences(snapshot: Snapshot, tree: QueueTree, theirs: Iterable[TheirQueue]) -> tuple[QueueDifference, ...]:
    """Return every difference, queue by queue in YuniKorn's order, then the queues that YuniKorn does not know.

    The max of the root, which YuniKorn takes from the nodes, is not compared, nor are the root's settings.
    """
    known = {queue.path: queue for queue in theirs}
    used, leaving = snapshot.usage(tree), _leaving(snapshot, tree)
    differences: list[QueueDifference] = []
    for path, queue in known.items():
        if path in tree:
            differences += _in_amounts(queue, tree, used[path], leaving[path])
            differences += _in_settings(queue, tree) if path != tree.root else ()
        else:
            differences.append(QueueDifference(queue=path, aspect=Aspect.UNKNOWN_HERE))
    missing = (path for path in tree.walk() if path not in known)
    return (*differences, *(QueueDifference(queue=path, aspect=Aspect.UNKNOWN_THERE) for path in missing))


def _leaving(snapshot: Snapshot, tree: QueueTree) -> Mapping[str, Amounts]:
    leaving = (pod for pod in snapshot.pods if pod.node is not None and pod.terminating)
    return tree.usage((pod.queue, pod.requests) for pod in leaving)


def _in_amounts(theirs: TheirQueue, tree: QueueTree, used: Amounts, leaving: Amounts) -> Iterable[QueueDifference]:
    queue = tree[theirs.path]
    yield from _amounts(theirs.path, Aspect.GUARANTEED, queue.guaranteed, theirs.guaranteed)
    if theirs.path != tree.root:
        yield from _amounts(theirs.path, Aspect.MAX, queue.max, theirs.max, limits=True)
    yield from _amounts(theirs.path, Aspect.USED, used, theirs.allocated)
    more = {name: held for name, held in theirs.preempting.items() if held > leaving.get(name, 0)}
    yield from _amounts(theirs.path, Aspect.PREEMPTING, {name: leaving.get(name, 0) for name in more}, more)


def _amounts(
    path: str, aspect: Aspect, here: Amounts, theirs: Amounts, *, limits: bool = False
) -> Iterable[QueueDifference]:
    """Yield the amounts that differ; ``limits``: a limit of 0 differs from no limit."""
    nothing = None if limits else 0
    for name in sorted(here.keys() | theirs.keys()):
        if here.get(name, nothing) != theirs.get(name, nothing):
            yield QueueDifference(
                queue=path, aspect=aspect, resource=name, ours=_text(here, name), theirs=_text(theirs, name)
            )


def _text(amounts: Amounts, name: str) -> str:
    return format_amount(name, amounts[name]) if name in amounts else ""


def _in_settings(theirs: TheirQueue, tree: QueueTree) -> Iterable[QueueDifference]:
    path = theirs.path
    switches = (
        (Aspect.FENCE, tree[path].preemption_policy is PreemptionPolicy.FENCE, theirs.fence),
        (Aspect.DISABLED, tree.disabled_by(path) is not None, theirs.disabled),
    )
    for aspect, here, there in switches:
        if here != there:
            yield QueueDifference(queue=path, aspect=aspect, ours=_switch(here), theirs=_switch(there))
    if theirs.leaf and theirs.delay_ms is not None and tree.delay_ms(path) != theirs.delay_ms:
        delays = format_duration(tree.delay_ms(path)), format_duration(theirs.delay_ms)
        yield QueueDifference(queue=path, aspect=Aspect.DELAY, ours=delays[0], theirs=delays[1])


def _switch(on: bool) -> str:
    return "true" if on else "false"
