"""Deletes objects: grace periods, finalizers, namespaces, and dependents of deleted owners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from simulator.objects import Object, clone, share, timestamp
from simulator.status import UID_PRECONDITION, VERSION_PRECONDITION, conflict, forbidden
from simulator.storage import definitions, priority_admission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.kinds import ApiResource
    from simulator.storage.versioned_objects import VersionedObjects

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
# The API orphans a Job's pods by default, as it did before owner references existed.
ORPHANS_BY_DEFAULT = ("jobs.batch",)
FINISHED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Request:
    """The DeleteOptions of a request; `preconditions` may hold uid and resourceVersion."""

    grace_seconds: int | None
    preconditions: Mapping[str, Any]
    propagation: str | None
    dry_run: bool = False


def delete(store: VersionedObjects, kind: ApiResource, obj: Object, request: Request) -> Object:
    """Begin, or immediately complete, the deletion of an object and return its last state. Raises ApiError 403, 409."""
    priority_admission.check_removal(kind, obj["metadata"]["name"])
    check_preconditions(kind, obj, request.preconditions)
    if kind.key == "namespaces":
        return _delete_namespace(store, kind, obj, request)
    if kind.key == definitions.KEY:
        return _delete_definition(store, kind, obj, request)
    grace = _grace(kind, obj, request)
    if not grace and not _finalizers(obj) and _propagation_finalizer(kind, request) is None:
        return obj if request.dry_run else remove(store, kind, obj)
    marked = _marked_for_deletion(store, kind, obj, grace, request)
    if request.dry_run:
        return marked
    if marked is not obj:
        obj = store.commit("MODIFIED", kind, marked, obj)
    if FOREGROUND in _finalizers(obj):
        _delete_dependents(store, obj)
        return _release(store, kind, obj)
    return after_update(store, kind, obj)


def check_preconditions(kind: ApiResource, obj: Object, preconditions: Mapping[str, Any]) -> None:
    """Raise ApiError 409 when the object has another UID, or another version, than the request requires."""
    meta = obj["metadata"]
    for field, key, sentence in (
        ("uid", "uid", UID_PRECONDITION),
        ("resourceVersion", "resourceVersion", VERSION_PRECONDITION),
    ):
        if preconditions.get(field) and preconditions[field] != meta[key]:
            raise conflict(kind, meta["name"], sentence.format(wanted=preconditions[field], found=meta[key]))


def _grace(kind: ApiResource, obj: Object, request: Request) -> int:
    if kind.key != "pods" or not obj["spec"].get("nodeName") or obj["status"].get("phase") in FINISHED:
        return 0
    if request.grace_seconds is not None:
        return max(request.grace_seconds, 0)
    return int(obj["spec"].get("terminationGracePeriodSeconds", 30))


def _marked_for_deletion(
    store: VersionedObjects, kind: ApiResource, obj: Object, grace: int, request: Request
) -> Object:
    """Return the object with its deletion in metadata; unchanged if it is being deleted with no longer grace period."""
    meta = clone(obj["metadata"])
    if "deletionTimestamp" not in meta or grace < meta.get("deletionGracePeriodSeconds", 0):
        meta["deletionTimestamp"] = timestamp(store.now() + timedelta(seconds=grace))
        meta["deletionGracePeriodSeconds"] = grace
        if kind.generation and "deletionTimestamp" not in obj["metadata"]:
            meta["generation"] = meta.get("generation", 0) + 1
    finalizer = _propagation_finalizer(kind, request)
    if finalizer and finalizer not in (meta.get("finalizers") or ()):
        meta["finalizers"] = [*(meta.get("finalizers") or ()), finalizer]
    return share(obj, {**obj, "metadata": meta})  # type: ignore[no-any-return]


def _propagation_finalizer(kind: ApiResource, request: Request) -> str | None:
    policy = request.propagation or ("Orphan" if kind.key in ORPHANS_BY_DEFAULT else "Background")
    return {"Foreground": FOREGROUND, "Orphan": ORPHAN}.get(policy)


def _finalizers(obj: Object) -> list[str]:
    return obj["metadata"].get("finalizers") or []


def after_update(store: VersionedObjects, kind: ApiResource, obj: Object) -> Object:
    """Complete a deletion that nothing blocks any more. Returns the object's last state."""
    meta = obj["metadata"]
    if "deletionTimestamp" not in meta or store.find(kind.key, meta.get("namespace"), meta["name"]) is not obj:
        return obj
    if ORPHAN in _finalizers(obj):
        _orphan_dependents(store, obj)
        return _without_finalizer(store, kind, obj, ORPHAN)
    if _finalizers(obj) or meta.get("deletionGracePeriodSeconds", 0) > 0 or kind.key == "namespaces":
        return obj
    return remove(store, kind, obj)


def remove(store: VersionedObjects, kind: ApiResource, obj: Object) -> Object:
    """Remove an object from the store, and continue with its dependents, owners and namespace."""
    meta = obj["metadata"]
    removed = store.commit("DELETED", kind, obj, obj)
    if kind.custom:
        _finish_definition(store, kind.key)
    elif kind.key == definitions.KEY:
        store.kinds.discard(meta["name"])
    _delete_dependents(store, obj)
    for owner in meta.get("ownerReferences") or ():
        _release_owner(store, owner, meta.get("namespace"))
    if kind.namespaced:
        _finish_namespace(store, meta["namespace"])
    return removed


def _dependents(store: VersionedObjects, owner: Object) -> list[tuple[ApiResource, Object]]:
    places = list(store.dependents.get(owner["metadata"]["uid"], ()))
    candidates = ((store.kinds[key], store.find(key, namespace, name)) for key, namespace, name in places)
    return [(kind, obj) for kind, obj in candidates if obj is not None]


def _delete_dependents(store: VersionedObjects, owner: Object) -> None:
    uid = owner["metadata"]["uid"]
    for kind, obj in _dependents(store, owner):
        others = [item for item in obj["metadata"]["ownerReferences"] if item["uid"] != uid]
        if any(_owner(store, item, obj["metadata"].get("namespace")) for item in others):
            _drop_owner(store, kind, obj, uid)
        elif "deletionTimestamp" not in obj["metadata"]:
            delete(store, kind, obj, Request(None, {}, "Background"))


def _orphan_dependents(store: VersionedObjects, owner: Object) -> None:
    for kind, obj in _dependents(store, owner):
        _drop_owner(store, kind, obj, owner["metadata"]["uid"])


def _drop_owner(store: VersionedObjects, kind: ApiResource, obj: Object, uid: str) -> None:
    def drop(copy: Object) -> None:
        other_owners = [item for item in copy["metadata"]["ownerReferences"] if item["uid"] != uid]
        copy["metadata"]["ownerReferences"] = other_owners

    store.mutate(kind.key, obj["metadata"].get("namespace"), obj["metadata"]["name"], drop)


def _owner(
    store: VersionedObjects, reference: Mapping[str, Any], namespace: str | None
) -> tuple[ApiResource, Object] | None:
    group, _, version = reference["apiVersion"].rpartition("/")
    for kind in store.kinds:
        if (kind.group, kind.version, kind.kind) == (group, version, reference["kind"]):
            owner = store.find(kind.key, namespace if kind.namespaced else None, reference["name"])
            if owner is not None and owner["metadata"]["uid"] == reference["uid"]:
                return kind, owner
    return None


def _release_owner(store: VersionedObjects, reference: Mapping[str, Any], namespace: str | None) -> None:
    owner = _owner(store, reference, namespace)
    if owner is not None and FOREGROUND in _finalizers(owner[1]):
        _release(store, *owner)


def _release(store: VersionedObjects, kind: ApiResource, owner: Object) -> Object:
    """Remove the finalizer of an owner that waits for its dependents when none is left that blocks it."""
    uid = owner["metadata"]["uid"]
    references = (ref for _, obj in _dependents(store, owner) for ref in obj["metadata"]["ownerReferences"])
    if any(item["uid"] == uid and item.get("blockOwnerDeletion") for item in references):
        return owner
    current = store.find(kind.key, owner["metadata"].get("namespace"), owner["metadata"]["name"])
    return owner if current is None else _without_finalizer(store, kind, current, FOREGROUND)


def _without_finalizer(store: VersionedObjects, kind: ApiResource, obj: Object, finalizer: str) -> Object:
    remaining = [item for item in _finalizers(obj) if item != finalizer]
    meta = {**obj["metadata"], "finalizers": remaining}
    if not remaining:
        del meta["finalizers"]
    return after_update(store, kind, store.commit("MODIFIED", kind, {**obj, "metadata": meta}, obj))


def _delete_definition(store: VersionedObjects, kind: ApiResource, obj: Object, request: Request) -> Object:
    meta = {**obj["metadata"], "finalizers": [*_finalizers(obj), definitions.CLEANUP]}
    held = obj if definitions.CLEANUP in _finalizers(obj) else {**obj, "metadata": meta}
    marked = _marked_for_deletion(store, kind, held, 0, replace(request, propagation=None))
    if request.dry_run or marked == obj:
        return marked
    stored = store.commit("MODIFIED", kind, marked, obj)
    name = obj["metadata"]["name"]
    for instance in store.list(name) if name in store.kinds else ():
        place = instance["metadata"]
        if store.find(name, place.get("namespace"), place["name"]) is not None:
            delete(store, store.kinds[name], instance, Request(None, {}, "Background"))
    _finish_definition(store, name)
    return stored


def _finish_definition(store: VersionedObjects, name: str) -> None:
    """Complete the deletion of a definition when none of its objects is left."""
    definition = store.find(definitions.KEY, None, name)
    if definition is None or definitions.CLEANUP not in _finalizers(definition):
        return
    if name not in store.kinds or not store.list(name):
        _without_finalizer(store, store.kinds[definitions.KEY], definition, definitions.CLEANUP)


def _delete_namespace(store: VersionedObjects, kind: ApiResource, obj: Object, request: Request) -> Object:
    name = obj["metadata"]["name"]
    if name in ("default", "kube-system", "kube-public"):
        raise forbidden(kind, name, "this namespace may not be deleted")
    marked = _marked_for_deletion(store, kind, obj, 0, replace(request, propagation=None))
    marked = {**marked, "status": {**(obj.get("status") or {}), "phase": "Terminating"}}
    if request.dry_run:
        return marked
    terminating = obj if marked == obj else store.commit("MODIFIED", kind, marked, obj)
    _finish_namespace(store, name)
    return terminating


def _finish_namespace(store: VersionedObjects, name: str) -> None:
    """Delete the contents of a terminating namespace, pods first, then the rest, and finally the namespace."""
    if not _terminating(store, name):
        return
    has_pods = bool(store.list("pods", name))
    for kind, content in store.contents(name):
        meta = content["metadata"]
        must_delete = store.find(kind.key, name, meta["name"]) is not None and "deletionTimestamp" not in meta
        if must_delete and (kind.key == "pods" or not has_pods):
            delete(store, kind, content, Request(None, {}, "Background"))
    if (space := _terminating(store, name)) and not any(store.contents(name)):
        store.commit("DELETED", store.kinds["namespaces"], space, space)


def _terminating(store: VersionedObjects, name: str) -> Object | None:
    space = store.find("namespaces", None, name)
    return space if space is not None and "deletionTimestamp" in space["metadata"] else None
