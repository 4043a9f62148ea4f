"""A mapping that reports which entries changed since an earlier moment."""

from collections.abc import Iterable, Mapping
from typing import Any, Generic, Self, TypeVar

Key = TypeVar("Key")
Thing = TypeVar("Thing")

STEPS_KEPT = 50_000
"""How many steps are recorded after the last call of ``reach``; beyond that, changes are unknown."""


class MappingChange(Generic[Key, Thing]):
    """One change: the key, its value before (None if there was none), and the step before this one."""

    __slots__ = ("before", "key", "number", "was")

    def __init__(self, key: Key | None = None, was: Thing | None = None) -> None:
        self.key, self.was, self.number = key, was, 0
        self.before: MappingChange[Key, Thing] | None = None


class _Reached:
    """The number of the step from which on changes are of interest; copies share it."""

    number = 0


class TrackedDict(dict[Key, Thing]):
    """A dict that records its changes as a chain of steps. A copy continues independently from the same step."""

    def __init__(self, things: Mapping[Key, Thing] | Iterable[tuple[Key, Thing]] = ()) -> None:
        super().__init__(things)
        self.step: MappingChange[Key, Thing] = MappingChange()
        self._reached = _Reached()

    def copy(self) -> Self:
        """Return a copy with the same items and the same history."""
        copy = type(self)(self)
        copy.step = self.step
        copy._reached = self._reached  # noqa: SLF001 - an instance of this class
        return copy

    def reach(self) -> MappingChange[Key, Thing]:
        """Return the current step, and discard the history before it."""
        self.step.before, self._reached.number = None, self.step.number
        return self.step

    def since(self, step: MappingChange[Key, Thing]) -> dict[Key, Thing | None] | None:
        """Return the entries that changed since a step, with their values then; None for entries that were absent.

        Return None if the history does not reach back to that step.
        """
        found: dict[Key, Thing | None] = {}
        at: MappingChange[Key, Thing] | None = self.step
        while at is not None and at is not step:
            if at.key is not None:
                found[at.key] = at.was
            at = at.before
        return None if at is None else found

    def _go(self, key: Key, was: Thing | None) -> None:
        step = MappingChange(key, was)
        if self.step.number < self._reached.number + STEPS_KEPT:
            step.before = self.step
        step.number = self.step.number + 1
        self.step = step

    def __setitem__(self, key: Key, thing: Thing) -> None:
        self._go(key, self.get(key))
        super().__setitem__(key, thing)

    def __delitem__(self, key: Key) -> None:
        self._go(key, self[key])
        super().__delitem__(key)

    def pop(self, key: Key, *default: Any) -> Any:
        """Remove a key and return its value, as ``dict.pop`` does."""
        if key in self:
            self._go(key, self[key])
        return super().pop(key, *default)

    def update(self, *things: Any, **named: Any) -> None:
        """Set many items. If the mapping was empty, as after a full list, the history begins anew."""
        if not self:
            self.step = MappingChange()
            super().update(*things, **named)
            return
        for key, thing in dict(*things, **named).items():
            self[key] = thing

    def clear(self) -> None:
        """Remove all items. The history begins anew, as after ``popitem``."""
        self.step = MappingChange()
        super().clear()

    def popitem(self) -> tuple[Key, Thing]:
        """Remove and return the last item. The history begins anew."""
        self.step = MappingChange()
        return super().popitem()

    def setdefault(self, key: Key, default: Any = None) -> Any:
        """Return the value of a key, setting it to ``default`` first if the key is absent."""
        if key not in self:
            self[key] = default
        return self[key]

    def __ior__(self, things: Any) -> "TrackedDict[Key, Thing]":  # type: ignore[override,misc]
        self.update(things)
        return self
