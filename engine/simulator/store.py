"""The objects of the cluster: one version counter, one event window, every rule of writing applied in one place.

Synchronous and single-threaded. What comes out of the store is never mutated by anyone: writes replace whole objects.
"""

import random
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from engine.simulator import admission, definitions, deletion, eviction, managed, quota
from engine.simulator.bootstrap import bootstrap
from engine.simulator.kinds import Kind, Registry
from engine.simulator.managed import Manager
from engine.simulator.objects import Object, clone, share, timestamp
from engine.simulator.selectors import matcher
from engine.simulator.status import ApiError, already_exists, conflict, gone, not_found

__all__ = ["ApiError", "Event", "Store"]

EventType = Literal["ADDED", "MODIFIED", "DELETED"]
NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
KEPT_METADATA = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


@dataclass(frozen=True, slots=True)
class Event:
    """One change: `object` is the new state (the last one for DELETED), `old` the former (None for ADDED)."""

    type: EventType
    key: str
    object: Object
    old: Object | None
    resource_version: int


# The store has a method called list.
Objects = list[Object]
Events = list[Event]


class Store:
    """Every object that the API serves, by key ("pods", "jobs.batch"), namespace and name."""

    def __init__(self, now: Callable[[], datetime], seed: int = 0, window: int = 10_000) -> None:
        """Start with the namespaces and priority classes that every cluster has.

        `now` is the clock, `seed` decides uids and generated names, `window` is how many events watches may go back.
        """
        self.now = now
        self.kinds = Registry()
        self.resource_version = 0
        self.dependents: dict[str, dict[tuple[str, str, str], None]] = {}
        self._random = random.Random(seed)
        self._objects: dict[str, dict[str, dict[str, Object]]] = {}
        self._events: deque[Event] = deque(maxlen=window)
        self._subscribers: dict[int, Callable[[Event], None]] = {}
        self._undelivered: deque[Event] = deque()
        self._delivering = False
        bootstrap(self)
        quota.keep_status(self)

    # Reading

    def get(self, key: str, namespace: str | None, name: str) -> Object:
        """Return an object. Raises ApiError 404."""
        found = self.find(key, namespace, name)
        if found is None:
            raise not_found(self.kinds[key], name)
        return found

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
        wanted = matcher(self.kinds[key], label_selector, field_selector)
        spaces = self._objects.get(key, {})
        names = sorted(spaces) if namespace is None else [namespace]
        found = (space[name] for space in (spaces.get(item, {}) for item in names) for name in sorted(space))
        return [obj for obj in found if wanted is None or wanted(obj)]

    def events_since(self, version: int) -> Events:
        """Return every change after a version, oldest first. Raises ApiError 410 when some are forgotten."""
        oldest = self._events[0].resource_version if self._events else self.resource_version + 1
        if version < oldest - 1:
            raise gone(version, oldest - 1)
        found: list[Event] = []
        for event in reversed(self._events):
            if event.resource_version <= version:
                break
            found.append(event)
        return found[::-1]

    def forget(self) -> None:
        """Forget every change so far, as an API server's storage does now and then: watches begin anew."""
        self._events.clear()

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call back with every change from now on, in order; returns what ends that.

        A change that a callback makes is delivered after everyone has seen the one it answers.
        """
        token = max(self._subscribers, default=0) + 1
        self._subscribers[token] = callback
        return lambda: self._subscribers.pop(token, None) and None

    # Writing

    def create(
        self,
        key: str,
        obj: Object,
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        manager: Manager | None = None,
    ) -> Object:
        """Admit and add an object that a manager makes. Raises ApiError 400, 403, 404 (no namespace), 409 and 422."""
        kind = self.kinds[key]
        new = self._named(kind, clone(obj), namespace)
        meta = new["metadata"]
        admission.admit(self, kind, new)
        if self.find(key, meta.get("namespace"), meta["name"]) is not None:
            raise already_exists(kind, meta["name"])
        self._sign(kind, None, new, manager)
        return new if dry_run else self.commit("ADDED", kind, new, None)

    def _sign(self, kind: Kind, old: Object | None, new: Object, manager: Manager | None) -> None:
        """Write down who wrote what, where that is kept."""
        if manager and managed.tracked(kind):
            new["metadata"]["managedFields"] = managed.written(old, new, manager, timestamp(self.now()))

    def _named(self, kind: Kind, new: Object, namespace: str | None) -> Object:
        meta = new.setdefault("metadata", {})
        if kind.namespaced:
            meta["namespace"] = namespace or meta.get("namespace") or "default"
        else:
            meta.pop("namespace", None)
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = meta["generateName"][:58] + "".join(self._random.choices(NAME_ALPHABET, k=5))
        for field in (*KEPT_METADATA, "resourceVersion", "managedFields", "selfLink"):
            meta.pop(field, None)
        meta["uid"] = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
        meta["creationTimestamp"] = timestamp(self.now())
        if kind.generation:
            meta["generation"] = 1
        return {"kind": kind.kind, "apiVersion": kind.api_version, **new}

    def update(
        self,
        key: str,
        obj: Object,
        subresource: str | None = None,
        *,
        dry_run: bool = False,
        manager: Manager | None = None,
    ) -> Object:
        """Replace an object, or only its status. Raises ApiError 404, 409 when the version is stale, and 422.

        ``manager``: who does, for managedFields.
        """
        kind = self.kinds[key]
        meta = obj.get("metadata") or {}
        old = self.get(key, meta.get("namespace") if kind.namespaced else None, meta.get("name", ""))
        wanted, found = meta.get("uid"), old["metadata"]["uid"]
        if wanted and wanted != found:
            why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
            raise conflict(kind, meta["name"], why)
        if meta.get("resourceVersion") and meta["resourceVersion"] != old["metadata"]["resourceVersion"]:
            raise conflict(kind, meta["name"])
        new = clone(obj)
        if subresource == "status":
            new = {**old, "status": new.get("status") or {}}
        elif kind.has_status:
            new = {field: item for field, item in new.items() if field != "status"}
            new.update({"status": clone(old["status"])} if "status" in old else {})
        new = _revised(old, new)
        if subresource is None:
            admission.admit_update(self, kind, old, new)
            self._sign(kind, old, new, manager)
        else:
            admission.admit_status(kind, new)
        return self._replace(kind, old, new, dry_run=dry_run)

    def mutate(
        self,
        key: str,
        namespace: str | None,
        name: str,
        fn: Callable[[Object], object],
        subresource: str | None = None,
    ) -> Object:
        """Let `fn` change a copy of an object in place and store the outcome; no change writes nothing.

        For controllers: never conflicts, and without a subresource both specification and status are kept as `fn`
        leaves them. Raises ApiError 404.
        """
        kind = self.kinds[key]
        old = self.get(key, namespace, name)
        new = clone(old)
        fn(new)
        if subresource is not None:
            new = {**old, **({subresource: new[subresource]} if subresource in new else {})}
        return self._replace(kind, old, _revised(old, new))

    def _replace(self, kind: Kind, old: Object, new: Object, *, dry_run: bool = False) -> Object:
        if kind.generation and _specification(old, kind) != _specification(new, kind):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        if dry_run:
            return new
        shared: Object = share(old, new)
        if shared is old:
            return old
        stored = self.commit("MODIFIED", kind, shared, old)
        deletion.after_update(self, kind, stored)
        return stored

    def delete(
        self,
        key: str,
        namespace: str | None,
        name: str,
        grace_seconds: int | None = None,
        preconditions: Object | None = None,
        *,
        propagation: str | None = None,
        dry_run: bool = False,
    ) -> Object:
        """Delete as the API does: gracefully for pods, held up by finalizers, dependents following the owner.

        Returns the object as it is then (its last state when it is gone). Raises ApiError 404 and 409.
        """
        request = deletion.Request(grace_seconds, preconditions or {}, propagation, dry_run)
        return deletion.delete(self, self.kinds[key], self.get(key, namespace, name), request)

    def remove(self, key: str, namespace: str | None, name: str) -> Object:
        """Take an object away at once, whatever its grace and finalizers. Raises ApiError 404."""
        return deletion.remove(self, self.kinds[key], self.get(key, namespace, name))

    def bind(self, namespace: str, name: str, node: str, uid: str | None = None, *, dry_run: bool = False) -> Object:
        """Assign a pod to a node. Raises ApiError 404, and 409 when it has one or is being deleted."""
        return eviction.bind(self, namespace, name, node, uid, dry_run=dry_run)

    def evict(
        self,
        namespace: str,
        name: str,
        dry_run: bool = False,
        preconditions: Object | None = None,
        grace: int | None = None,
    ) -> Object:
        """Evict a pod as its disruption budget allows. Raises ApiError 404, 409 and 429."""
        return eviction.evict(self, namespace, name, deletion.Request(grace, preconditions or {}, None, dry_run))

    # What the rules of deletion and eviction build on

    def commit(self, type_: EventType, kind: Kind, obj: Object, old: Object | None) -> Object:
        """Give an object the next version, store it (or drop it), remember the event and tell the subscribers."""
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
        if kind.key == definitions.KEY and type_ != "DELETED":
            definitions.serve(self, stored)
        event = Event(type_, kind.key, stored, old, self.resource_version)
        self._events.append(event)
        self._deliver(event)
        return stored

    def _index(self, kind: Kind, new: Object | None, old: Object | None) -> None:
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
                self._tell(self._undelivered.popleft())
        finally:
            self._delivering = False

    def _tell(self, event: Event) -> None:
        for callback in tuple(self._subscribers.values()):
            callback(event)

    def contents(self, namespace: str) -> Iterator[tuple[Kind, Object]]:
        """Yield everything in a namespace."""
        for key, spaces in list(self._objects.items()):
            for obj in list(spaces.get(namespace, {}).values()):
                yield self.kinds[key], obj


def _revised(old: Object, new: Object) -> Object:
    """Return `new` with the identity and the metadata that only the server writes."""
    kept = old["metadata"]
    given = {field: item for field, item in (new.get("metadata") or {}).items() if field != "managedFields"}
    # Emptying what was not there is no change.
    meta = {field: item for field, item in given.items() if item or field in kept}
    for field in (*KEPT_METADATA, "resourceVersion", "name", "namespace", "managedFields"):
        meta.pop(field, None)
        if field in kept:
            meta[field] = kept[field]
    rest = {field: item for field, item in new.items() if field not in ("kind", "apiVersion", "metadata")}
    return {"kind": old["kind"], "apiVersion": old["apiVersion"], "metadata": meta, **rest}


def _specification(obj: Object, kind: Kind) -> dict[str, Any]:
    outside = {"metadata", "kind", "apiVersion"} | ({"status"} if kind.has_status else set())
    return {field: item for field, item in obj.items() if field not in outside}
