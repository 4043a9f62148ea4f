"""A mapping that reports which entries changed since an earlier moment."""

from collections.abc import ItemsView, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from itertools import chain
from typing import Any, Generic, NamedTuple, Self, TypeVar, overload

Key = TypeVar("Key")
Thing = TypeVar("Thing")
Other = TypeVar("Other")

STEPS_KEPT = 50_000
"""How many steps a small mapping records after the last call of ``reach``; beyond that, changes are unknown."""
STEPS_SHARE = 4
"""A large mapping records at most one step per four items: with more changes, starting anew costs less."""
MOST_AHEAD = 10_000
"""How many changes of a copy alone are kept, at most, so that the mapping that it was copied from can go on from it."""

_SUFFIX = 3
"""How many characters at the end of a key name its part. Those of uids are random: pods are in 4,096 parts."""


class MappingChange(Generic[Key, Thing]):
    """One change: the key, its value before (None if there was none), and the step before this one."""

    __slots__ = ("before", "key", "number", "was")

    def __init__(self, key: Key | None = None, was: Thing | None = None) -> None:
        self.key, self.was, self.number = key, was, 0
        self.before: MappingChange[Key, Thing] | None = None


class Moment(NamedTuple, Generic[Thing]):
    """A moment of a mapping, from which on changes can be asked for."""

    step: MappingChange[str, Thing]
    forked: MappingChange[str, Thing] | None = None
    """The step at which the mapping was copied from another one; None: it is not a copy, or changed much since."""
    ahead: dict[str, Thing | None] = {}
    """What the copy alone has changed since then, with the values of this moment; None for what was removed."""


class _Reached:
    """The number of the step from which on changes are of interest; copies share it."""

    number = 0


class TrackedMapping(MutableMapping[str, Thing]):
    """A mapping that records its changes as a chain of steps, and that is copied in no time.

    A copy continues independently from the same step. Items are kept in parts, by the last characters of their keys; a
    copy shares all parts until one of both changes something in them. Items are iterated part by part.
    """

    def __init__(self, things: Mapping[str, Thing] | Iterable[tuple[str, Thing]] = ()) -> None:
        self._parts: dict[str, dict[str, Thing]] = {}
        self._own: set[str] = set()
        """The parts that no other mapping shares."""
        self._count = 0
        self.step: MappingChange[str, Thing] = MappingChange()
        self._reached = _Reached()
        self._forked: MappingChange[str, Thing] | None = None
        self._last: Moment[Thing] | None = None
        """The last moment that was reached."""
        self.update(things)

    def copy(self) -> Self:
        """Return a copy with the same items and the same history."""
        copy = type(self)()
        self._own = set()
        copy._parts, copy._count = self._parts.copy(), self._count  # noqa: SLF001 - an instance of this class
        copy.step, copy._reached = self.step, self._reached  # noqa: SLF001
        copy._forked, copy._last = self._forked or self.step, self._last  # noqa: SLF001
        return copy

    @property
    def moment(self) -> Moment[Thing]:
        """Return the present moment."""
        return Moment(self.step)

    def reach(self) -> Moment[Thing]:
        """Return the present moment, and discard the history before it.

        The mapping that this one was copied from can go on from that moment, too.
        """
        if self._last is None or self._last.step is not self.step:
            ahead = self._ahead()
            self._last = Moment(self.step) if ahead is None else Moment(self.step, self._forked, ahead)
        self.step.before, self._reached.number = None, self.step.number
        if self._last.forked is not None:
            self._last.forked.before = None
        return self._last

    def _ahead(self) -> dict[str, Thing | None] | None:
        """Return what this copy alone has changed, with the values that it has; None if that is unknown, or much."""
        found: dict[str, Thing | None] = {}
        at: MappingChange[str, Thing] | None = self.step
        while at is not self._forked and len(found) <= MOST_AHEAD:
            if at is None:
                return None
            if self._last is not None and at is self._last.step:
                found = self._last.ahead | found
                at = self._last.forked
                continue
            if at.key is not None:
                found[at.key] = self.get(at.key)
            at = at.before
        return found if len(found) <= MOST_AHEAD else None

    def since(self, moment: Moment[Thing]) -> dict[str, Thing | None] | None:
        """Return the entries that changed since a moment, with their values then; None for entries that were absent.

        Return None if the history does not reach back to that moment.
        """
        found: dict[str, Thing | None] = {}
        at: MappingChange[str, Thing] | None = self.step
        while at is not None and at is not moment.step:
            if at is moment.forked:
                return found | moment.ahead
            if at.key is not None:
                found[at.key] = at.was
            at = at.before
        return None if at is None else found

    @property
    def changed_last(self) -> str | None:
        """Return the key that was set or deleted last; None if nothing changed yet."""
        return self.step.key

    def _go(self, key: str, was: Thing | None) -> None:
        step = MappingChange(key, was)
        if self.step.number < self._reached.number + max(STEPS_KEPT, self._count // STEPS_SHARE):
            step.before = self.step
        step.number = self.step.number + 1
        self.step = step

    def _to_write(self, key: str) -> dict[str, Thing]:
        name = key[-_SUFFIX:]
        if name not in self._own:
            self._own.add(name)
            self._parts[name] = self._parts.get(name, {}).copy()
        return self._parts[name]

    def __getitem__(self, key: str) -> Thing:
        return self._parts[key[-_SUFFIX:]][key]

    @overload
    def get(self, key: str) -> Thing | None: ...
    @overload
    def get(self, key: str, default: Thing | Other) -> Thing | Other: ...
    def get(self, key: str, default: object = None) -> object:
        """Return the value of a key, or the default."""
        part = self._parts.get(key[-_SUFFIX:])
        return default if part is None else part.get(key, default)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key in self._parts.get(key[-_SUFFIX:], ())

    def __setitem__(self, key: str, thing: Thing) -> None:
        part = self._to_write(key)
        was = part.get(key)
        self._count += was is None
        self._go(key, was)
        part[key] = thing

    def __delitem__(self, key: str) -> None:
        was = self[key]
        del self._to_write(key)[key]
        self._count -= 1
        self._go(key, was)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._parts.values())

    def values(self) -> ValuesView[Thing]:
        """Return a view of the values."""
        return _Values(self, self._parts)

    def items(self) -> ItemsView[str, Thing]:
        """Return a view of the items."""
        return _Items(self, self._parts)

    def update(self, things: Any = (), /, **named: Any) -> None:
        """Set many items. If the mapping was empty, as after a full list, the history begins anew."""
        if self._count:
            super().update(things, **named)
            return
        self.clear()
        every = dict(things, **named) if named or not isinstance(things, Mapping) else things
        for key, thing in every.items():
            self._to_write(key)[key] = thing
        self._count = sum(map(len, self._parts.values()))

    def clear(self) -> None:
        """Remove all items. The history begins anew."""
        self._parts, self._own, self._count, self.step = {}, set(), 0, MappingChange()


class _Values(ValuesView[Thing]):
    """The values, without a look-up for each."""

    def __init__(self, of: Mapping[str, Thing], parts: dict[str, dict[str, Thing]]) -> None:
        super().__init__(of)
        self._parts = parts

    def __iter__(self) -> Iterator[Thing]:
        return chain.from_iterable(map(dict.values, self._parts.values()))


class _Items(ItemsView[str, Thing]):
    """The items, without a look-up for each."""

    def __init__(self, of: Mapping[str, Thing], parts: dict[str, dict[str, Thing]]) -> None:
        super().__init__(of)
        self._parts = parts

    def __iter__(self) -> Iterator[tuple[str, Thing]]:
        return chain.from_iterable(map(dict.items, self._parts.values()))
