"""The store of the cluster's objects, where all rules of writing are applied."""

import random
import uuid
from collections.abc import Callable
from datetime import datetime

from simulator.kinds import ApiResource
from simulator.objects import Object, clone, timestamp
from simulator.status import ApiError, already_exists, conflict
from simulator.storage import admission, definitions, deletion, eviction, managed_fields, resource_quota
from simulator.storage.bootstrap import bootstrap
from simulator.storage.managed_fields import Manager
from simulator.storage.versioned_objects import KEPT_METADATA, Event, VersionedObjects, revised

__all__ = ["ApiError", "Event", "Store"]

NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


class Store(VersionedObjects):
    """Every object that the API serves, by key ("pods", "jobs.batch"), namespace and name."""

    def __init__(self, now: Callable[[], datetime], seed: int = 0, window: int = 10_000) -> None:
        """Create a store with the namespaces and priority classes that every cluster has.

        `now` is the clock, `seed` determines uids and generated names, `window` is how many events watches may go back.
        """
        super().__init__(now, window)
        self._random = random.Random(seed)
        bootstrap(self.create)
        resource_quota.keep_status(self)

    def after_update(self, kind: ApiResource, stored: Object) -> None:
        """Finish a deletion that the update allows."""
        deletion.after_update(self, kind, stored)

    def before_delivery(self, event: Event) -> None:
        """Serve the kinds of a new CustomResourceDefinition."""
        if event.key == definitions.KEY and event.type != "DELETED":
            definitions.serve(self, event.object)

    def create(
        self,
        key: str,
        obj: Object,
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        manager: Manager | None = None,
    ) -> Object:
        """Admit and add an object that a manager creates. Raises ApiError 400, 403, 404 (no namespace), 409 and 422."""
        kind = self.kinds[key]
        new = self._named(kind, clone(obj), namespace)
        meta = new["metadata"]
        admission.admit(self, kind, new)
        if self.find(key, meta.get("namespace"), meta["name"]) is not None:
            raise already_exists(kind, meta["name"])
        self._sign(kind, None, new, manager)
        return new if dry_run else self.commit("ADDED", kind, new, None)

    def _sign(self, kind: ApiResource, old: Object | None, new: Object, manager: Manager | None) -> None:
        """Record the field managers in managedFields, for kinds that track them."""
        if manager and managed_fields.is_tracked(kind):
            new["metadata"]["managedFields"] = managed_fields.updated_entries(old, new, manager, timestamp(self.now()))

    def _named(self, kind: ApiResource, new: Object, namespace: str | None) -> Object:
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

        ``manager``: the client that updates, for managedFields.
        """
        kind = self.kinds[key]
        meta = obj.get("metadata") or {}
        old = self.get(key, meta.get("namespace") if kind.namespaced else None, meta.get("name", ""))
        uid, stored_uid = meta.get("uid"), old["metadata"]["uid"]
        if uid and uid != stored_uid:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {stored_uid}"
            raise conflict(kind, meta["name"], why)
        if meta.get("resourceVersion") and meta["resourceVersion"] != old["metadata"]["resourceVersion"]:
            raise conflict(kind, meta["name"])
        new = clone(obj)
        if subresource == "status":
            new = {**old, "status": new.get("status") or {}}
        elif kind.has_status:
            new = {field: item for field, item in new.items() if field != "status"}
            new.update({"status": clone(old["status"])} if "status" in old else {})
        new = revised(old, new)
        if subresource is None:
            admission.admit_update(self, kind, old, new)
            self._sign(kind, old, new, manager)
        else:
            admission.admit_status(kind, new)
        return self.replace(kind, old, new, dry_run=dry_run)

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
        """Delete as the API does: gracefully for pods, blocked by finalizers, dependents after the owner.

        Returns the object as it is then (its last state when it is removed). Raises ApiError 404 and 409.
        """
        request = deletion.Request(grace_seconds, preconditions or {}, propagation, dry_run)
        return deletion.delete(self, self.kinds[key], self.get(key, namespace, name), request)

    def remove(self, key: str, namespace: str | None, name: str) -> Object:
        """Remove an object at once, whatever its grace period and finalizers. Raises ApiError 404."""
        return deletion.remove(self, self.kinds[key], self.get(key, namespace, name))

    def bind(self, namespace: str, name: str, node: str, uid: str | None = None, *, dry_run: bool = False) -> Object:
        """Assign a pod to a node. Raises ApiError 404, and 409 when it is bound or being deleted."""
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
