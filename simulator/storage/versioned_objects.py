"""Stores objects with one version counter and a window of events, without rules about what may be written.

Synchronous and single-threaded. Returned objects are never mutated: writes replace whole objects.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from simulator.kinds import ApiResource, Registry
from simulator.objects import Object, clone, share
from simulator.selectors import matcher
from simulator.status import not_found, version_expired

EventType = Literal["ADDED", "MODIFIED", "DELETED"]
KEPT_METADATA = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


@dataclass(frozen=True, slots=True)
class Event:
    """A change: `object` is the new state (the last one for DELETED), `old` the former (None for ADDED)."""

    type: EventType
    key: str
    object: Object
    old: Object | None
    resource_version: int


# The store has a method called list.
Objects = list[Object]
Events = list[Event]


class VersionedObjects:
    """Every object by key ("pods", "jobs.batch"), namespace and name, with the recent changes."""

    def __init__(self, now: Callable[[], datetime], window: int) -> None:
        """Create an empty store. ``now`` is the clock, ``window`` the number of events that watches may go back."""
        self.now = now
        self.kinds = Registry()
        self.resource_version = 0
        self.dependents: dict[str, dict[tuple[str, str, str], None]] = {}
        """UID of an owner -> key, namespace and name of its dependents."""
        self._objects: dict[str, dict[str, dict[str, Object]]] = {}
        self._events: deque[Event] = deque(maxlen=window)
        self._subscribers: dict[int, Callable[[Event], None]] = {}
        self._undelivered: deque[Event] = deque()
        self._delivering = False

    def after_update(self, kind: ApiResource, stored: Object) -> None:
        """Apply the rules that follow an update; here there are none."""

    def before_delivery(self, event: Event) -> None:
        """Apply the rules that precede the delivery of an event; here there are none."""

    def get(self, key: str, namespace: str | None, name: str) -> Object:
        """Return an object. Raises ApiError 404."""
        obj = self.find(key, namespace, name)
        if obj is None:
            raise not_found(self.kinds[key], name)
        return obj

    def find(self, key: str, namespace: str | None, name: str) -> Object | None:
        """Return an object, None if there is none."""
        return self._objects.get(key, {}).get(namespace or "", {}).get(name)

    def list(
        self,
        key: str,
        namespace: str | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
    ) -> Objects:
        """Return the objects of a namespace (None: of all), sorted by namespace and name. Raises ApiError 400."""
        selects = matcher(self.kinds[key], label_selector, field_selector)
        spaces = self._objects.get(key, {})
        names = sorted(spaces) if namespace is None else [namespace]
        objects = (space[name] for space in (spaces.get(item, {}) for item in names) for name in sorted(space))
        return [obj for obj in objects if selects is None or selects(obj)]

    def events_since(self, version: int) -> Events:
        """Return every change after a version, oldest first. Raises ApiError 410 when some are no longer kept."""
        oldest = self._events[0].resource_version if self._events else self.resource_version + 1
        if version < oldest - 1:
            raise version_expired(version, oldest - 1)
        newest_first: list[Event] = []
        for event in reversed(self._events):
            if event.resource_version <= version:
                break
            newest_first.append(event)
        return newest_first[::-1]

    def forget(self) -> None:
        """Drop every change so far, as an API server's storage does from time to time: watches have to start over."""
        self._events.clear()

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call back with every change from now on, in order; return a function that ends the subscription.

        A change that a callback makes is delivered after all subscribers have seen the one it answers.
        """
        token = max(self._subscribers, default=0) + 1
        self._subscribers[token] = callback
        return lambda: self._subscribers.pop(token, None) and None

    def mutate(
        self,
        key: str,
        namespace: str | None,
        name: str,
        fn: Callable[[Object], object],
        subresource: str | None = None,
    ) -> Object:
        """Let `fn` change a copy of an object in place and store the result; without a change nothing is written.

        For controllers: it never conflicts, and without a subresource both specification and status are stored as `fn`
        leaves them. Raises ApiError 404.
        """
        kind = self.kinds[key]
        old = self.get(key, namespace, name)
        new = clone(old)
        fn(new)
        if subresource is not None:
            new = {**old, **({subresource: new[subresource]} if subresource in new else {})}
        return self.replace(kind, old, revised(old, new))

    def replace(self, kind: ApiResource, old: Object, new: Object, *, dry_run: bool = False) -> Object:
        """Store a new state of an object and return it; an equal state, or a dry run, writes nothing."""
        if kind.generation and _specification(old, kind) != _specification(new, kind):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        if dry_run:
            return new
        shared: Object = share(old, new)
        if shared is old:
            return old
        stored = self.commit("MODIFIED", kind, shared, old)
        self.after_update(kind, stored)
        return stored

    def commit(self, type_: EventType, kind: ApiResource, obj: Object, old: Object | None) -> Object:
        """Give an object the next version, store it (or drop it), record the event and notify the subscribers."""
        self.resource_version += 1
        meta = {**obj["metadata"], "resourceVersion": str(self.resource_version)}
        stored = {**obj, "metadata": meta}
        place, name = meta.get("namespace", ""), meta["name"]
        space = self._objects.setdefault(kind.key, {}).setdefault(place, {})
        if type_ == "DELETED":
            del space[name]
        else:
            space[name] = stored
        self._index(kind, None if type_ == "DELETED" else stored, old)
        event = Event(type_, kind.key, stored, old, self.resource_version)
        self.before_delivery(event)
        self._events.append(event)
        self._deliver(event)
        return stored

    def _index(self, kind: ApiResource, new: Object | None, old: Object | None) -> None:
        for obj, add in ((old, False), (new, True)):
            meta = obj["metadata"] if obj else {}
            for owner in meta.get("ownerReferences") or ():
                places = self.dependents.setdefault(owner["uid"], {})
                place = (kind.key, meta.get("namespace", ""), meta["name"])
                if add:
                    places[place] = None
                else:
                    places.pop(place, None)
                if not places:
                    del self.dependents[owner["uid"]]

    def _deliver(self, event: Event) -> None:
        self._undelivered.append(event)
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._undelivered:
                self._notify(self._undelivered.popleft())
        finally:
            self._delivering = False

    def _notify(self, event: Event) -> None:
        for callback in tuple(self._subscribers.values()):
            callback(event)

    def contents(self, namespace: str) -> Iterator[tuple[ApiResource, Object]]:
        """Yield every object in a namespace."""
        for key, spaces in list(self._objects.items()):
            for obj in list(spaces.get(namespace, {}).values()):
                yield self.kinds[key], obj


def revised(old: Object, new: Object) -> Object:
    """Return `new` with the identity and the metadata that only the server writes."""
    old_meta = old["metadata"]
    new_meta = {field: item for field, item in (new.get("metadata") or {}).items() if field != "managedFields"}
    # Emptying a field that did not exist is no change.
    meta = {field: item for field, item in new_meta.items() if item or field in old_meta}
    for field in (*KEPT_METADATA, "resourceVersion", "name", "namespace", "managedFields"):
        meta.pop(field, None)
        if field in old_meta:
            meta[field] = old_meta[field]
    content = {field: item for field, item in new.items() if field not in ("kind", "apiVersion", "metadata")}
    return {"kind": old["kind"], "apiVersion": old["apiVersion"], "metadata": meta, **content}


def _specification(obj: Object, kind: ApiResource) -> dict[str, Any]:
    outside = {"metadata", "kind", "apiVersion"} | ({"status"} if kind.has_status else set())
    return {field: item for field, item in obj.items() if field not in outside}
