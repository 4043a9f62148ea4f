"""The verbs of the API on resources and their subresources, as functions from a call to an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.api import calls, reviews
from simulator.api.lists import list_objects
from simulator.api.patches.patch import apply_patch
from simulator.api.printing.views import accept, list_kind, present
from simulator.objects import Object, condition_true
from simulator.status import (
    STALE,
    UndecodableError,
    bad_request,
    cause,
    conflict,
    invalid,
    method_not_allowed,
    not_found,
    success,
)
from simulator.storage.managed_fields import is_tracked, without_dropped_fields

if TYPE_CHECKING:
    from simulator.api.calls import Call
    from simulator.storage.store import Store

# Deleting one of these returns the object even when it is removed at once.
RETURNED_WHEN_DELETED = ("pods", "serviceaccounts", "resourcequotas")
# Replacing one of these requires the version that was read; others may be replaced unconditionally.
VERSION_REQUIRED = ("leases.coordination.k8s.io", "poddisruptionbudgets.policy")

Answer = tuple[int, Object | str]


def carry_out(store: Store, call: Call) -> Answer:
    """Carry out a call and return the HTTP code with an object, or a text. Raises ApiError."""
    if call.subresource:
        return _SUBRESOURCES[call.subresource](store, call)
    return _VERBS[call.verb](store, call)


def _get(store: Store, call: Call) -> Answer:
    return 200, present(call.kind, _stored(store, call))


def _stored(store: Store, call: Call) -> Object:
    obj = store.find(call.kind.storage, call.namespace, call.name or "")
    if obj is None:
        raise not_found(call.kind, call.name or "")
    return obj


def _list(store: Store, call: Call) -> Answer:
    items, meta = list_objects(store, call)
    return 200, list_kind(call.kind, items, meta)


def _create(store: Store, call: Call) -> Answer:
    obj = calls.mapping(call.body)
    calls.check_body(call, obj)
    if call.kind.plural in reviews.REVIEWS:
        return 201, reviews.review(call.kind, obj, store)
    if call.kind.plural == "bindings":
        return _bind(store, call, (obj.get("metadata") or {}).get("name", ""), obj)
    accepted = accept(call.kind, store.kinds[call.kind.storage], obj)
    created = store.create(call.kind.storage, accepted, call.namespace, dry_run=call.dry_run, manager=call.manager)
    return 201, present(call.kind, created)


def _update(store: Store, call: Call) -> Answer:
    obj = calls.mapping(call.body)
    calls.check_body(call, obj)
    meta = obj.get("metadata") or {}
    if not meta.get("resourceVersion") and (call.kind.custom or call.kind.key in VERSION_REQUIRED):
        why = cause(
            "FieldValueInvalid", "Invalid value: 0: must be specified for an update", "metadata.resourceVersion"
        )
        raise invalid(call.kind, call.name or "", [why])
    if not meta.get("name"):
        raise bad_request("name must be provided")
    return _write(store, call, obj)


def _write(store: Store, call: Call, obj: Object) -> Answer:
    accepted = accept(call.kind, store.kinds[call.kind.storage], obj)
    accepted["metadata"] = {**(accepted.get("metadata") or {}), "name": call.name}
    if call.namespace:
        accepted["metadata"]["namespace"] = call.namespace
    _stored(store, call)
    updated = store.update(call.kind.storage, accepted, call.subresource, dry_run=call.dry_run, manager=call.manager)
    return 200, present(call.kind, updated)


def _patch(store: Store, call: Call) -> Answer:
    applies = call.media_type == calls.APPLY_PATCH
    if applies and not call.query.get("fieldManager"):
        why = cause("FieldValueRequired", "Required value: is required for apply patch", "fieldManager")
        raise invalid(call.kind, call.name or "", [why])
    existing = store.find(call.kind.storage, call.namespace, call.name or "")
    if existing is None and applies and not call.subresource:
        return _create_applied(store, call)
    current = present(call.kind, _stored(store, call))
    if applies and not call.subresource and is_tracked(call.kind):
        current = without_dropped_fields(current, calls.mapping(call.body), call.manager)
    try:
        return _write(store, call, _patched(call, current))
    except UndecodableError as error:
        raise error.as_patched() from None


def _patched(call: Call, current: Object) -> Object:
    patched = apply_patch(call.kind, current, call.body, call.media_type)
    calls.check_body(call, patched)
    version = (patched.get("metadata") or {}).get("resourceVersion")
    if version and version != current["metadata"]["resourceVersion"]:
        raise conflict(call.kind, call.name or "", STALE)
    uid = (patched.get("metadata") or {}).get("uid")
    if uid and uid != current["metadata"]["uid"]:
        why = cause("FieldValueInvalid", f'Invalid value: "{uid}": field is immutable', "metadata.uid")
        raise invalid(call.kind, call.name or "", [why])
    return patched


def _create_applied(store: Store, call: Call) -> Answer:
    obj = calls.mapping(call.body)
    calls.check_body(call, obj)
    named = {**obj, "metadata": {**(obj.get("metadata") or {}), "name": call.name}}
    accepted = accept(call.kind, store.kinds[call.kind.storage], named)
    created = store.create(call.kind.storage, accepted, call.namespace, dry_run=call.dry_run, manager=call.manager)
    return 201, present(call.kind, created)


def _options(call: Call) -> Object:
    """Return DeleteOptions from the body and the query, which may both set them."""
    options = dict(call.body) if isinstance(call.body, dict) else {}
    if call.query.get("gracePeriodSeconds"):
        options["gracePeriodSeconds"] = call.number("gracePeriodSeconds")
    if call.query.get("propagationPolicy"):
        options["propagationPolicy"] = call.query["propagationPolicy"]
    if options.get("propagationPolicy") not in (None, "", "Background", "Foreground", "Orphan"):
        raise bad_request(f'invalid propagationPolicy: "{options["propagationPolicy"]}"')
    return options


def _delete(store: Store, call: Call) -> Answer:
    uid = _stored(store, call)["metadata"]["uid"]
    last = _delete_object(store, call, call.name or "", call.namespace)
    current = store.find(call.kind.storage, call.namespace, call.name or "")
    if current is not None or call.kind.key in RETURNED_WHEN_DELETED:
        return 200, present(call.kind, last)
    return 200, success(call.kind, call.name or "", uid)


def _delete_object(store: Store, call: Call, name: str, namespace: str | None) -> Object:
    options = _options(call)
    return store.delete(
        call.kind.storage,
        namespace,
        name,
        options.get("gracePeriodSeconds"),
        options.get("preconditions"),
        propagation=options.get("propagationPolicy"),
        dry_run=call.dry_run,
    )


def _delete_collection(store: Store, call: Call) -> Answer:
    items, meta = list_objects(store, call)
    deleted = []
    for item in items:
        name, namespace = item["metadata"]["name"], item["metadata"].get("namespace")
        # An object that was listed may have been deleted with its owner in the meantime.
        if store.find(call.kind.storage, namespace, name) is not None:
            deleted.append(present(call.kind, _delete_object(store, call, name, namespace)))
    return 200, list_kind(call.kind, deleted, meta)


_VERBS = {
    "get": _get,
    "list": _list,
    "create": _create,
    "update": _update,
    "patch": _patch,
    "delete": _delete,
    "deletecollection": _delete_collection,
}


def _status(store: Store, call: Call) -> Answer:
    if call.verb not in ("get", "update", "patch"):
        raise method_not_allowed()
    return _VERBS[call.verb](store, call)


def _binding(store: Store, call: Call) -> Answer:
    return _bind(store, call, call.name or "", _posted(call))


def _posted(call: Call) -> Object:
    if call.verb != "create":
        raise method_not_allowed()
    return calls.mapping(call.body)


def _bind(store: Store, call: Call, name: str, obj: Object) -> Answer:
    target = obj.get("target") or {}
    if not target.get("name"):
        why = cause("FieldValueRequired", "Required value", "target.name")
        raise invalid(store.kinds["bindings"], name, [why])
    uid = (obj.get("metadata") or {}).get("uid")
    store.bind(call.namespace or "", name, target["name"], uid, dry_run=call.dry_run)
    return 201, CREATED


CREATED: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def _eviction(store: Store, call: Call) -> Answer:
    obj = _posted(call)
    if (obj.get("metadata") or {}).get("name") not in (None, "", call.name):
        raise bad_request("name in URL does not match name in Eviction object")
    options = obj.get("deleteOptions") or {}
    store.evict(
        call.namespace or "",
        call.name or "",
        call.dry_run,
        options.get("preconditions"),
        options.get("gracePeriodSeconds"),
    )
    return 201, CREATED


def _scale(store: Store, call: Call) -> Answer:
    current = _scale_of(_stored(store, call))
    if call.verb == "get":
        return 200, current
    if call.verb == "create":
        raise method_not_allowed()
    desired = calls.mapping(call.body)
    if call.verb == "patch":
        desired = apply_patch(call.kind, current, desired, call.media_type)
    version = (desired.get("metadata") or {}).get("resourceVersion")
    if version and version != current["metadata"]["resourceVersion"]:
        raise conflict(call.kind, call.name or "")
    obj = _stored(store, call)
    spec = {**obj["spec"], "replicas": (desired.get("spec") or {}).get("replicas", 0)}
    return 200, _scale_of(store.update(call.kind.key, {**obj, "spec": spec}, dry_run=call.dry_run))


def _scale_of(obj: Object) -> Object:
    fields = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    labels = (obj["spec"].get("selector") or {}).get("matchLabels") or {}
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {field: obj["metadata"][field] for field in fields if field in obj["metadata"]},
        "spec": {"replicas": obj["spec"].get("replicas", 0)},
        "status": {
            "replicas": (obj.get("status") or {}).get("replicas", 0),
            "selector": ",".join(f"{key}={value}" for key, value in sorted(labels.items())),
        },
    }


def _log(store: Store, call: Call) -> Answer:
    if call.verb != "get":
        raise method_not_allowed()
    pod = _stored(store, call)
    names = [item["name"] for item in pod["spec"]["containers"]]
    name = call.query.get("container") or names[0]
    if name not in names:
        raise bad_request(f"container {name} is not valid for pod {call.name}")
    if not pod["spec"].get("nodeName"):
        return 200, ""  # no kubelet could have written a log
    statuses: list[Any] = (pod.get("status") or {}).get("containerStatuses") or []
    state = next((item.get("state") or {} for item in statuses if item["name"] == name), {})
    started = (state.get("running") or state.get("terminated") or {}).get("startedAt")
    if not started and not condition_true(pod, "Ready"):
        reason = (state.get("waiting") or {}).get("reason", "ContainerCreating")
        raise bad_request(f'container "{name}" in pod "{call.name}" is waiting to start: {reason}')
    return 200, f"{started or ''} simulated container {name}: it runs no program and writes nothing more\n"


_SUBRESOURCES = {
    "status": _status,
    "binding": _binding,
    "eviction": _eviction,
    "scale": _scale,
    "log": _log,
}
