"""What the nodes of a snapshot are like, as columns that the next snapshot continues."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import compress
from operator import is_not
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.model.columns.group_codes import GroupCodes, Rows
from engine.model.quantities import Amounts, total

if TYPE_CHECKING:
    from engine.model.objects.kubernetes import Node

Flags = NDArray[np.bool_]
Numbers = NDArray[Any]

SAFE = 2**61
"""Sums up to this bound, and sums and differences of a few of them, fit into 64 bits."""


class NodeFields:
    """The nodes by their index in a snapshot, with columns that are built on first use. It is immutable."""

    def __init__(self, nodes: "tuple[Node, ...]") -> None:
        self.nodes = nodes
        self._labels = _NodeLabels(nodes)

    def replaced(self, nodes: "tuple[Node, ...]") -> "NodeFields":
        """Return the fields of nodes with the same names in the same order; what is equal is not built again."""
        changed = list(compress(range(len(nodes)), map(is_not, nodes, self.nodes)))
        if not changed:
            return self
        later = NodeFields(nodes)
        if all(nodes[place].labels == self.nodes[place].labels for place in changed):
            later._labels = self._labels
        if "_alike" in self.__dict__:
            before, places = self._alike, np.array(changed, np.intp)
            known, codes = before.with_keys([nodes[place] for place in changed], _facts)
            of = before.of.copy()
            of[places] = codes
            moved = known.moved(of, gone=before.of[places], came=codes)
            later.__dict__.update({} if moved.worn else {"_alike": moved})
        return later

    @cached_property
    def _alike(self) -> GroupCodes:
        """Return the nodes grouped by everything but their names and labels."""
        return GroupCodes.anew(self.nodes, _facts)

    def kinds(self) -> "list[Node]":
        """Return a node of each kind; nodes of a kind are equal in everything but their names and labels."""
        return self._alike.there

    def flags(self, meets: Callable[["Node"], bool]) -> Flags:
        """Return for each node whether it satisfies a predicate that does not look at names and labels."""
        return np.array(list(map(meets, self._alike.each)), np.bool_)[self._alike.of]

    def numbers(self, of: Callable[["Node"], int]) -> Numbers:
        """Return for each node a number that does not depend on its name and labels."""
        found, times = list(map(of, self._alike.each)), self._alike.times.tolist()
        every = sum(abs(number) * max(many, 1) for number, many in zip(found, times, strict=True))
        return np.array(found, np.int64 if every <= SAFE else object)[self._alike.of]

    @cached_property
    def resources(self) -> frozenset[str]:
        """Return the resources that at least one node can hold."""
        return frozenset(name for node in self.kinds() for name, amount in node.allocatable.items() if amount > 0)

    @cached_property
    def capacity(self) -> Amounts:
        """Return the sum of what all nodes can hold."""
        kinds, times = self.kinds(), self._alike.times[self._alike.times > 0].tolist()
        return total(
            {name: amount * many for name, amount in node.allocatable.items()}
            for node, many in zip(kinds, times, strict=True)
        )

    @property
    def label_keys(self) -> frozenset[str]:
        """Return the label keys that at least one node has."""
        return self._labels.keys

    def label(self, key: str) -> tuple[Rows, list[str]]:
        """Return the number of each node's value of a label, by node index, and the values by their numbers.

        The number is -1 where a node lacks the label.
        """
        return self._labels.numbered(key)


class _NodeLabels:
    """The labels of nodes, key by key as they are asked for."""

    def __init__(self, nodes: Sequence["Node"]) -> None:
        self._nodes = nodes
        self._numbered: dict[str, tuple[Rows, list[str]]] = {}

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset().union(*(node.labels for node in self._nodes))

    def numbered(self, key: str) -> tuple[Rows, list[str]]:
        if key not in self._numbered:
            numbers: dict[str, int] = {}
            values = (node.labels.get(key) for node in self._nodes)
            codes = [-1 if value is None else numbers.setdefault(value, len(numbers)) for value in values]
            self._numbered[key] = np.array(codes, np.intp), list(numbers)
        return self._numbered[key]


def _facts(node: "Node") -> tuple[object, ...]:
    amounts = tuple(node.allocatable.items())
    return amounts, node.taints, node.unschedulable, node.ready, node.unread
