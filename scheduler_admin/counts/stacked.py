"""Pods that were lost, by when and by what they are stacked by.

In arrays: a day of a large cluster has a thousand names, and a page covers up to two years.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np

from scheduler_admin.counts.columns import Numbers


class Stacked:
    """Added to part by part, read as a whole."""

    def __init__(self, called: Callable[[str], str] = str) -> None:
        """``called``: what a name is called by now; those that are called alike are one."""
        self._called = called
        self._number_of: dict[str, int] = {}
        """Of names as they come, and as they are called."""
        self._names_called: list[str] = []
        self._times: list[datetime] = []
        self._names: list[Numbers] = []
        """For each time the numbers of names, and in the next list how many pods each of them lost."""
        self._pods: list[Numbers] = []

    def add(self, at: datetime, names: Sequence[str]) -> None:
        """Pods of one time, one for each name, which may come up more than once."""
        self.add_all(at, names, np.arange(len(names)), np.ones(len(names), np.int64))

    def add_all(self, at: datetime, names: Sequence[str], which: Numbers, pods: Numbers) -> None:
        """Numbers of pods of one time, and the place of each one's name."""
        self._times.append(at)
        self._names.append(self._numbers(names)[which])
        self._pods.append(pods)

    def by_name(self) -> dict[str, int]:
        """All times together, without names that lost nothing."""
        sums = self._added(np.concatenate([np.empty(0, np.int64), *self._names]), len(self._names_called))
        return {name: pods for name, pods in zip(self._names_called, sums.tolist(), strict=True) if pods}

    def by_bucket(self, of: Callable[[datetime], int], buckets: int, named: Sequence[str]) -> list[list[int]]:
        """For each bucket the pods of some names in their order, then of all others; ``of`` a time: its bucket."""
        series_of = np.full(len(self._names_called), len(named))
        for series, name in enumerate(named):
            series_of[self._number_of[name]] = series
        width = len(named) + 1
        cells = [of(at) * width + series_of[names] for at, names in zip(self._times, self._names, strict=True)]
        sums = self._added(np.concatenate([np.empty(0, np.int64), *cells]), buckets * width)
        table: list[list[int]] = sums.reshape(buckets, width).tolist()
        return table

    def _added(self, where: Numbers, places: int) -> Numbers:
        """As floats, which hold every whole number that so many pods could be."""
        return np.bincount(where, np.concatenate([np.empty(0), *self._pods]), places).astype(np.int64)

    def _numbers(self, names: Sequence[str]) -> Numbers:
        try:
            return np.fromiter(map(self._number_of.__getitem__, names), np.int64, len(names))
        except KeyError:  # most days have no name that none before had
            for name in names:
                self._number_of.setdefault(name, self._number(self._called(name)))
            return self._numbers(names)

    def _number(self, called: str) -> int:
        if called not in self._number_of:
            self._number_of[called] = len(self._names_called)
            self._names_called.append(called)
        return self._number_of[called]
