"""Amounts of all queues at one moment of a pass, of which a decision changes few."""

from collections.abc import Iterator, Mapping
from itertools import compress
from operator import is_not

from engine.model.quantities import Amounts

_MOST_CHANGES = 1024
"""The most changed entries that are kept beside the others, which are copied after that."""


class AmountsByPath(Mapping[str, Amounts]):
    """Amounts by path, which share all entries with an earlier moment that have not changed since.

    Neither the mapping nor an entry is ever modified: if an entry is the same object, nothing has changed.
    """

    def __init__(self, base: dict[str, Amounts], changes: Mapping[str, Amounts] | None = None) -> None:
        """Hold the entries of ``base``, some of them changed; no path is added."""
        self.base, self.changes = base, changes or {}
        self.latest: tuple[Mapping[str, Amounts], list[str]] | None = None
        """The ``changes`` of the moment before this one, and the paths that have changed since."""

    def with_changes(self, changes: Mapping[str, Amounts]) -> "AmountsByPath":
        """Return a later moment at which some entries have changed."""
        later = {**self.changes, **changes}
        if len(later) > _MOST_CHANGES:
            return AmountsByPath({**self.base, **later})
        found = AmountsByPath(self.base, later)
        found.latest = self.changes, list(changes)
        return found

    def __getitem__(self, path: str) -> Amounts:
        return self.changes[path] if path in self.changes else self.base[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.base)

    def __len__(self) -> int:
        return len(self.base)

    def shares_entries(self, other: object) -> bool:
        """Return whether another mapping has the same paths, and shares the entries that have not changed."""
        return isinstance(other, AmountsByPath) and other.base is self.base

    def changed(self, before: "AmountsByPath") -> list[str]:
        """Return the paths whose entries may differ from those of a mapping that shares entries with this one."""
        earlier, later = before.changes, self.changes
        if self.latest is not None and self.latest[0] is earlier:
            return self.latest[1]
        changed = [path for path, amounts in later.items() if earlier.get(path) is not amounts]
        return changed + [path for path in earlier if path not in later]


AnyAmounts = Mapping[str, Mapping[str, int]]


def same_paths(before: AnyAmounts, now: AnyAmounts) -> bool:
    """Return whether two mappings have the same paths in the same order."""
    return (isinstance(now, AmountsByPath) and now.shares_entries(before)) or list(now) == list(before)


def changed_paths(before: AnyAmounts, now: AnyAmounts) -> list[str]:
    """Return the paths, out of the same paths, whose amounts may have changed.

    An entry is never modified, so the same object means the same amounts.
    """
    if isinstance(now, AmountsByPath) and isinstance(before, AmountsByPath) and now.shares_entries(before):
        return now.changed(before)
    return list(compress(now, map(is_not, now.values(), before.values())))
