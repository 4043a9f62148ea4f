"""What everything alive in the simulator has in common: it reacts to changes of the store, and can be stopped."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from simulator.clock import SimulationClock, Timers
from simulator.storage.store import Event, Store

if TYPE_CHECKING:
    from collections.abc import Callable

Place = tuple[str, str]
"""Namespace and name."""


class Component(ABC):
    """Sees every object of the kinds it watches: those that exist as ADDED, then each change."""

    watches: ClassVar[tuple[str, ...]] = ()

    def __init__(self, store: Store, clock: SimulationClock) -> None:
        """Stay still until `start`."""
        self.store = store
        self.clock = clock
        self.timers = Timers(clock)
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin with what is there."""
        self._unsubscribe = self.store.subscribe(self._receive)
        for key in self.watches:
            for obj in self.store.list(key):
                self.on_event(Event("ADDED", key, obj, None, 0))

    def stop(self) -> None:
        """Do nothing more."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self.timers.clear()

    def _receive(self, event: Event) -> None:
        if event.key in self.watches and self._unsubscribe is not None:
            self.on_event(event)

    @abstractmethod
    def on_event(self, event: Event) -> None:
        """Take note of a change."""


class Controller(Component):
    """Brings one object at a time to what it says; many changes of a moment lead to one look."""

    def __init__(self, store: Store, clock: SimulationClock) -> None:
        """Stay still until `start`."""
        super().__init__(store, clock)
        self._dirty: dict[Place, None] = {}

    def enqueue(self, namespace: str, name: str) -> None:
        """Look at an object as soon as the present change is through."""
        self._dirty[namespace, name] = None
        if "drain" not in self.timers:
            self.timers.set("drain", 0, self._drain)

    def _drain(self) -> None:
        dirty, self._dirty = self._dirty, {}
        for namespace, name in dirty:
            self.sync(namespace, name)

    @abstractmethod
    def sync(self, namespace: str, name: str) -> None:
        """Compare what is with what should be, and act."""
