"""The base classes of the simulator's components: they react to changes of the store, and can be stopped."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from simulator.clock import SimulationClock, Timers
from simulator.storage.store import Event, Store

if TYPE_CHECKING:
    from collections.abc import Callable

Place = tuple[str, str]
"""The namespace and name of an object."""


class Component(ABC):
    """Receives every object of the kinds it watches: existing ones as ADDED, then each change."""

    watches: ClassVar[tuple[str, ...]] = ()

    def __init__(self, store: Store, clock: SimulationClock) -> None:
        """Create a component; it does nothing before `start`."""
        self.store = store
        self.clock = clock
        self.timers = Timers(clock)
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        """Start with the existing objects."""
        self._unsubscribe = self.store.subscribe(self._receive)
        for key in self.watches:
            for obj in self.store.list(key):
                self.on_event(Event("ADDED", key, obj, None, 0))

    def stop(self) -> None:
        """Stop reacting to changes."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        self.timers.clear()

    def _receive(self, event: Event) -> None:
        if event.key in self.watches and self._unsubscribe is not None:
            self.on_event(event)

    @abstractmethod
    def on_event(self, event: Event) -> None:
        """Handle a change."""


class Controller(Component):
    """Reconciles one object at a time; several changes at the same moment lead to one reconciliation."""

    def __init__(self, store: Store, clock: SimulationClock) -> None:
        """Create a controller; it does nothing before `start`."""
        super().__init__(store, clock)
        self._dirty: dict[Place, None] = {}

    def enqueue(self, namespace: str, name: str) -> None:
        """Reconcile an object as soon as the current change is handled."""
        self._dirty[namespace, name] = None
        if "drain" not in self.timers:
            self.timers.set("drain", 0, self._drain)

    def _drain(self) -> None:
        dirty, self._dirty = self._dirty, {}
        for namespace, name in dirty:
            self.sync(namespace, name)

    @abstractmethod
    def sync(self, namespace: str, name: str) -> None:
        """Compare the actual with the desired state of an object, and act."""
