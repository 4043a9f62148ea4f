"""What a change of some pods does to the rows of a roster: which rows go, and where others come."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from engine.model.collections.blocks import BlockSequence
from engine.model.columns import pod_fields
from engine.model.columns.group_codes import Rows

if TYPE_CHECKING:
    from engine.model.objects.kubernetes import Pod

Numbers = NDArray[Any]
"""64-bit integers, or Python integers where sums might not fit into 64 bits."""


class RowMerge:
    """A merge that removes rows from columns and inserts others, and keeps the order of the remaining rows."""

    def __init__(self, many: int, gone: Rows, at: Rows) -> None:
        """Prepare the merge of columns of ``many`` rows.

        ``gone``: the rows to remove. ``at``: the rows before which new ones are inserted, in ascending order.
        """
        self.gone, self._many = gone, many
        take = np.insert(np.arange(many), at, -1)
        stays = np.ones(many, np.bool_)
        stays[gone] = False
        self._take: Rows = take[(take < 0) | stays[take]]
        """New row -> old row; -1 for inserted rows, in their order."""
        self._came: Rows = np.flatnonzero(self._take < 0)

    @cached_property
    def places(self) -> Rows:
        """Return the new row of each old row; that of a removed row means nothing."""
        places = np.zeros(self._many, np.intp)
        stays = np.flatnonzero(self._take >= 0)
        places[self._take[stays]] = stays
        return places

    def merged(self, column: Numbers, coming: Numbers) -> Numbers:
        """Return a column after the merge; ``coming`` has the values of the inserted rows."""
        if not len(column):
            return coming
        merged: Numbers = column[self._take]
        merged[self._came] = coming
        return merged


class RemainingBlocks(NamedTuple):
    """The blocks of a roster on some nodes, which may differ from those that it was made for."""

    blocks: "list[tuple[Pod, ...]]"
    """A block for each node, empty for a new one, and one for the pods that are on none of them."""
    starts: Rows
    """Block -> the row at which it started."""
    displaced: list[int]
    """The rows of pods that belong in another block, as their node came or went."""
    lost: Rows
    """Those of them whose block is gone."""

    @classmethod
    def of(cls, pods: "BlockSequence[Pod]", before: Mapping[str, int], place: Mapping[str, int]) -> Self:
        """Return the blocks of a roster's pods that remain on other nodes.

        ``before``: the nodes until now, in their order. ``place``: the nodes from now on, in the same order.
        """
        if before is place or before == place:
            return cls(pods.blocks, pods.first[:-1], [], np.zeros(0, np.intp))
        away, many = len(before), len(pods)
        old = np.array([*(before.get(name, -1) for name in place), away], np.intp)
        blocks = [pods.blocks[number] if number >= 0 else () for number in old.tolist()]
        starts = np.where(old >= 0, pods.first[old], many)
        starts = np.minimum.accumulate(starts[::-1])[::-1]
        gone = np.array([number for name, number in before.items() if name not in place], np.intp)
        lost = [np.arange(pods.first[number], pods.first[number + 1]) for number in gone]
        rows = np.concatenate([*lost, np.zeros(0, np.intp)])
        came = place.keys() - before.keys()
        found = [row for row, pod in enumerate(pods.blocks[away], int(pods.first[away])) if pod.node in came]
        return cls(blocks, starts, [*rows.tolist(), *found], rows)


class MergedPods(NamedTuple):
    """The pods of a roster after a change."""

    pods: "BlockSequence[Pod]"
    coming: "list[Pod]"
    """The pods that were inserted, in the order of their rows."""
    rows: RowMerge
    blocks: list[int]
    """The blocks that pods left or came to, in ascending order."""


def merge_pods(
    left: RemainingBlocks, many: int, gone: Iterable[int], coming: "Iterable[tuple[int, Pod]]", now_ms: int
) -> MergedPods:
    """Return the pods without some rows and with other pods, each where it belongs in its block.

    ``left``: what remains of the roster, which had ``many`` rows. ``coming``: pods with the blocks that they belong in.
    """
    every = np.unique(np.fromiter(gone, np.intp))
    inside = np.setdiff1d(every, left.lost, assume_unique=True)
    numbers = np.searchsorted(left.starts, inside, side="right") - 1
    out: dict[int, set[int]] = defaultdict(set)
    into: dict[int, list[Pod]] = defaultdict(list)
    for number, within in zip(numbers.tolist(), (inside - left.starts[numbers]).tolist(), strict=True):
        out[number].add(within)
    for number, pod in coming:
        into[number].append(pod)
    blocks, away = list(left.blocks), len(left.blocks) - 1
    at: list[int] = []
    came: list[Pod] = []
    touched = sorted(out.keys() | into.keys())
    for number in touched:
        key = pod_fields.sort_key if number == away else pod_fields.importance(now_ms)
        new = sorted(into[number], key=key)
        blocks[number], within = _block_after(blocks[number], out[number], new, key)
        start = int(left.starts[number])
        at += [start + place for place in within]
        came += new
    rows = RowMerge(many, every, np.array(at, np.intp))
    return MergedPods(BlockSequence(blocks), came, rows, touched)


def _block_after(
    before: "tuple[Pod, ...]", out: set[int], new: "list[Pod]", key: "Callable[[Pod], Any]"
) -> "tuple[tuple[Pod, ...], list[int]]":
    """Return a block without the pods at ``out`` and with ``new`` ones, and before which old pods these come."""
    stay = [number for number in range(len(before)) if number not in out]
    block = [before[number] for number in stay]
    between = [bisect_left(block, key(pod), key=key) for pod in new]
    stay.append(len(before))
    at = [stay[number] for number in between]
    for number, pod in zip(reversed(between), reversed(new), strict=True):
        block.insert(number, pod)
    return tuple(block), at
