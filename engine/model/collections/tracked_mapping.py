"""A mapping that tells what became another one since a moment."""

from collections.abc import Iterable, Mapping
from typing import Any, Generic, Self, TypeVar

Key = TypeVar("Key")
Thing = TypeVar("Thing")

STEPS_KEPT = 50_000
"""Steps that may lie between two moments; beyond that nobody knows what happened."""


class MappingChange(Generic[Key, Thing]):
    """One change: a key, and what was there before, None where nothing was; behind it the step before."""

    __slots__ = ("before", "key", "number", "was")

    def __init__(self, key: Key | None = None, was: Thing | None = None) -> None:
        self.key, self.was, self.number = key, was, 0
        self.before: MappingChange[Key, Thing] | None = None


class _Reached:
    """The number of the step from which on somebody wants to know; copies share it."""

    number = 0


class Followed(dict[Key, Thing]):
    """A dict whose changes are a chain of steps. A copy goes on from the same step, each on a way of its own."""

    def __init__(self, things: Mapping[Key, Thing] | Iterable[tuple[Key, Thing]] = ()) -> None:
        super().__init__(things)
        self.step: MappingChange[Key, Thing] = MappingChange()
        self._reached = _Reached()

    def copy(self) -> Self:
        """The same things, and the way that led to them."""
        copy = type(self)(self)
        copy.step = self.step
        copy._reached = self._reached  # noqa: SLF001 - of its own kind
        return copy

    def reach(self) -> MappingChange[Key, Thing]:
        """The step that it is at; what came before that nobody will ask for."""
        self.step.before, self._reached.number = None, self.step.number
        return self.step

    def since(self, step: MappingChange[Key, Thing]) -> dict[Key, Thing | None] | None:
        """What changed since a step -> what was there then, None for nothing; None: nobody knows."""
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
        """What is no longer there."""
        if key in self:
            self._go(key, self[key])
        return super().pop(key, *default)

    def update(self, *things: Any, **named: Any) -> None:
        """Put many. Where nothing was before, as when all is listed anew, no steps lead there."""
        if not self:
            self.step = MappingChange()
            super().update(*things, **named)
            return
        for key, thing in dict(*things, **named).items():
            self[key] = thing

    def clear(self) -> None:
        """From here on nobody knows what was before; the same where things go in one of the ways that are left."""
        self.step = MappingChange()
        super().clear()

    def popitem(self) -> tuple[Key, Thing]:
        """What came last."""
        self.step = MappingChange()
        return super().popitem()

    def setdefault(self, key: Key, default: Any = None) -> Any:
        """What is there, or ``default`` from now on."""
        if key not in self:
            self[key] = default
        return self[key]

    def __ior__(self, things: Any) -> "Followed[Key, Thing]":  # type: ignore[override,misc]
        self.update(things)
        return self
