"""All pods of a snapshot by row, with columns that are updated for the next snapshot."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.model.collections.arrays import array_of
from engine.model.collections.blocks import BlockSequence
from engine.model.collections.offsets import runs_of_equals
from engine.model.columns import pod_fields
from engine.model.columns.expendability import ExpendabilityOrder
from engine.model.columns.group_codes import GroupCodes, Rows
from engine.model.columns.pod_fields import Key, Number
from engine.model.columns.row_merge import MergedPods, Numbers, RemainingBlocks, merge_pods

if TYPE_CHECKING:
    from engine.model.objects.kubernetes import Pod


class _Asked(NamedTuple):
    """The columns that were requested of a roster and of those derived from it; the next roster builds them too."""

    numbers: set[tuple[Number, type]]
    kinds: set[Key]


class Roster:
    """All pods of a snapshot by row, with columns that are built on first use. It is immutable.

    Rows are sorted by node, and on each node by importance as kube-scheduler defines it: higher priority first, then
    the earlier start, then namespace and name. A pod that has not started yet counts as started now. The pods that are
    on none of the nodes come last, sorted by namespace and name.

    A column is identified by its function, one of ``pod_fields``. Do not pass functions that are created for each call:
    the columns that are kept for them would accumulate.
    """

    def __init__(self, pods: "BlockSequence[Pod]", place: Mapping[str, int], now_ms: int) -> None:
        """Keep pods that are sorted already.

        ``pods``: a block for each node, and one for the others. ``place``: node name -> its block.
        """
        self.pods, self.place, self.now_ms = pods, place, now_ms
        self._base: tuple[Roster, Rows] | None = None
        self._asked = _Asked(set(), set())
        self._numbers: dict[tuple[Number, type], Numbers] = {}
        self._coded: dict[Key, GroupCodes] = {}
        self._expendable: ExpendabilityOrder | None = None

    @classmethod
    def of(cls, pods: "Sequence[Pod]", place: Mapping[str, int], now_ms: int) -> "Roster":
        """Return the roster of some pods on some nodes. ``place``: node name -> the index of the node."""
        away = len(place)
        node = array_of((place.get(pod.node or "", away) for pod in pods), np.intp, len(pods))
        started = array_of((pod_fields.started_by(pod, now_ms) for pod in pods), np.int64, len(pods))
        priority = array_of(map(pod_fields.priority, pods), np.int64, len(pods))
        elsewhere = node == away
        started[elsewhere], priority[elsewhere] = 0, 0
        rows = np.lexsort((started, -priority, node))
        ordered = [pods[row] for row in rows.tolist()]
        for start, end in runs_of_equals(started[rows], priority[rows], node[rows]):
            ordered[start:end] = sorted(ordered[start:end], key=pod_fields.sort_key)
        ends = np.cumsum(np.bincount(node, minlength=away + 1)).tolist()
        blocks = [tuple(ordered[start:end]) for start, end in pairwise([0, *ends])]
        return cls(BlockSequence(blocks), place, now_ms)

    @property
    def plain(self) -> "Roster":
        """Return the roster from which this roster was derived by replacing pods, or this roster itself."""
        return self if self._base is None else self._base[0].plain

    @property
    def elsewhere(self) -> "tuple[Pod, ...]":
        """Return the pods that are on none of the nodes."""
        return self.pods.blocks[len(self.place)]

    def at(self, rows: Rows) -> list["Pod"]:
        """Return the pods of some rows."""
        return self.pods.at(rows)

    def row_of(self, pod: "Pod") -> int:
        """Return the row of a pod of this roster, given as it is here or with another queue or mark."""
        block = self.place.get(pod.node or "", len(self.place))
        pods = self.pods.blocks[block]
        if block < len(self.place):
            within = next(number for number, one in enumerate(pods) if one.uid == pod.uid)
        else:
            within = bisect_left(pods, pod_fields.sort_key(pod), key=pod_fields.sort_key)
        return int(self.pods.first[block]) + within

    def numbers(self, of: Number, dtype: type = np.int64) -> Numbers:
        """Return a number or a flag of each pod, by row."""
        made = self._numbers.get((of, dtype))
        if made is None:
            if self._base is None:
                made = array_of(map(of, self.pods), dtype, len(self.pods))
            else:
                base, rows = self._base
                made = _set(base.numbers(of, dtype), rows, self.at(rows), of)
            self._numbers[of, dtype] = made
            self._asked.numbers.add((of, dtype))
        return made

    @property
    def expendable_first(self) -> ExpendabilityOrder:
        """Return the pods node by node, on each node the most expendable one first."""
        if self._expendable is None:
            if self._base is None:
                self._expendable = ExpendabilityOrder.of(self)
            else:
                base, rows = self._base
                nodes = np.unique(np.searchsorted(self.pods.first, rows, side="right") - 1)
                nodes = nodes[nodes < len(self.place)]
                self._expendable = base.expendable_first.sorted_again(self, nodes)
        return self._expendable

    def coded(self, key: Key) -> GroupCodes:
        """Return the pods grouped by a key."""
        made = self._coded.get(key)
        if made is None:
            if self._base is None:
                made = GroupCodes.anew(self.pods, key)
            else:
                base, rows = self._base
                made = _recoded(base.coded(key), rows, self.at(rows), key)
            self._coded[key] = made
            self._asked.kinds.add(key)
        return made

    def late(self, since_ms: int) -> Rows:
        """Return the rows of the pods on the nodes that were started at ``since_ms`` or after it.

        Their order depends on the present time, which a pod that has not started counts as started at.
        """
        started = self.numbers(pod_fields.started)[: self.pods.first[len(self.place)]]
        return np.flatnonzero((started >= since_ms) & (started != pod_fields.NEVER))

    def merged(self, gone: Iterable[int], coming: "Iterable[Pod]", place: Mapping[str, int], now_ms: int) -> "Roster":
        """Return the roster without some rows and with other pods, on the nodes of ``place``, at another time."""
        left = RemainingBlocks.of(self.pods, self.place, place)
        out = {*gone}
        moved = {*left.displaced}
        if now_ms != self.now_ms:
            moved.update(self.late(min(now_ms, self.now_ms)).tolist())
        came = [*coming, *(self.pods[row] for row in moved - out)]
        away = len(place)
        located = ((place.get(pod.node or "", away), pod) for pod in came)
        merge = merge_pods(left, len(self.pods), out | moved, located, now_ms)
        later = Roster(merge.pods, place, now_ms)
        later._carry(self, self._asked, merge)
        return later

    def _carry(self, before: "Roster", asked: _Asked, merge: MergedPods) -> None:
        coming = merge.coming
        for of, dtype in list(asked.numbers):
            new: Numbers = array_of(map(of, coming), dtype, len(coming))
            self._numbers[of, dtype] = merge.rows.merged(before.numbers(of, dtype), new)
        for key in list(asked.kinds):
            coded = before.coded(key)
            known, codes = coded.with_keys(coming, key)
            merged = merge.rows.merged(coded.of, codes)
            one = known.moved(merged, gone=coded.of[merge.rows.gone], came=codes)
            if not one.worn:
                self._coded[key] = one
        self._asked.numbers.update(self._numbers)
        self._asked.kinds.update(self._coded)
        if before._expendable is not None:  # noqa: SLF001 - an instance of this class
            self._expendable = before._expendable.carried(self, merge)  # noqa: SLF001

    def swapped(self, rows: Rows, pods: Sequence["Pod"]) -> "Roster":
        """Return a roster in which the pods of some rows are replaced by pods that belong in the same rows."""
        if not len(rows):
            return self
        later = Roster(self.pods.replaced(dict(zip(rows.tolist(), pods, strict=True))), self.place, self.now_ms)
        later._base, later._asked = (self, rows), self._asked
        return later


def _set(column: Numbers, rows: Rows, pods: Sequence["Pod"], of: Number) -> Numbers:
    column = column.copy()
    column[rows] = array_of(map(of, pods), column.dtype, len(pods))
    return column


def _recoded(coded: GroupCodes, rows: Rows, pods: Sequence["Pod"], key: Key) -> GroupCodes:
    known, codes = coded.with_keys(pods, key)
    of = coded.of.copy()
    of[rows] = codes
    return known.moved(of, gone=coded.of[rows], came=codes)
