"""Admits objects between the request and the store: defaults, validation, priority, quota."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simulator.kinds import POD_GROUPS
from simulator.status import Cause, cause, forbidden, invalid, not_found
from simulator.storage import defaults, definitions, event_times, pod_admission, priority_admission, resource_quota
from simulator.storage.validation import validate

if TYPE_CHECKING:
    from simulator.kinds import ApiResource
    from simulator.objects import Object
    from simulator.storage.versioned_objects import VersionedObjects

# A kubelet registers its node with a status; all other objects are created without one.
STATUS_KEPT = ("nodes",)
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def admit(store: VersionedObjects, kind: ApiResource, obj: Object) -> None:
    """Set the defaults of a new object in place and check it. Raises ApiError 400, 403, 404 and 422."""
    _check_name(kind, obj)
    _check_namespace(store, kind, obj)
    if kind.has_status and kind.key not in STATUS_KEPT:
        obj.pop("status", None)
    defaults.apply(kind, obj)
    validate(kind, obj)
    if kind.key == "pods":
        pod_admission.admit(store, kind, obj)
        resource_quota.charge(store, kind, obj)
    elif kind.key == priority_admission.KEY:
        priority_admission.admit(store, kind, obj)
    elif kind.key == POD_GROUPS:
        priority_admission.resolve_group(store, kind, obj)
    elif kind.storage == "events":
        _refuse(kind, obj, event_times.faults(obj))
    elif kind.key == definitions.KEY:
        _check_definition(kind, obj)
        definitions.establish(store, obj)


def admit_update(store: VersionedObjects, kind: ApiResource, old: Object, new: Object) -> None:
    """Set the defaults of an object's new state in place and check it. Raises ApiError 400, 403 and 422."""
    defaults.apply(kind, new)
    validate(kind, new)
    if kind.key == "pods":
        pod_admission.check_update(kind, old, new)
    elif kind.key == priority_admission.KEY:
        priority_admission.admit_update(store, kind, old, new)
    elif kind.key == "replicasets.apps" and old["spec"]["selector"] != new["spec"].get("selector"):
        message = "Invalid value: field is immutable"
        _refuse(kind, new, [cause("FieldValueInvalid", message, "spec.selector")])


def admit_status(kind: ApiResource, new: Object) -> None:
    """Check the new status of an object. Raises ApiError 400 and 422."""
    if kind.key in STATUS_KEPT:
        validate(kind, new)


def _refuse(kind: ApiResource, obj: Object, causes: list[Cause]) -> None:
    if causes:
        raise invalid(kind, obj["metadata"].get("name", ""), causes)


def _check_name(kind: ApiResource, obj: Object) -> None:
    name = obj["metadata"].get("name")
    if not name:
        raise invalid(
            kind, "", [cause("FieldValueRequired", "Required value: name or generateName is required", "metadata.name")]
        )
    label = kind.key == "namespaces"
    if len(name) > (63 if label else 253):
        rule = f"must be no more than {63 if label else 253} characters"
    elif (_LABEL if label else _SUBDOMAIN).fullmatch(name):
        return
    else:
        rule = _LABEL_RULE if label else _SUBDOMAIN_RULE
    _refuse(kind, obj, [cause("FieldValueInvalid", f'Invalid value: "{name}": {rule}', "metadata.name")])


def _check_namespace(store: VersionedObjects, kind: ApiResource, obj: Object) -> None:
    if not kind.namespaced:
        return
    name = obj["metadata"]["namespace"]
    space = store.find("namespaces", None, name)
    if space is None:
        raise not_found(store.kinds["namespaces"], name)
    if "deletionTimestamp" in space["metadata"]:
        why = f"unable to create new content in namespace {name} because it is being terminated"
        ends = cause("NamespaceTerminating", f"namespace {name} is being terminated", "metadata.namespace")
        raise forbidden(kind, obj["metadata"]["name"], why, [ends])


def _check_definition(kind: ApiResource, obj: Object) -> None:
    spec = obj.get("spec") or {}
    causes = [
        cause("FieldValueRequired", "Required value", f"spec.{field}")
        for field in ("group", "names", "scope", "versions")
        if not spec.get(field)
    ]
    _refuse(kind, obj, causes)
    expected_name = f"{spec['names'].get('plural', '')}.{spec['group']}"
    if obj["metadata"]["name"] != expected_name:
        message = f'Invalid value: "{obj["metadata"]["name"]}": must be spec.names.plural+"."+spec.group'
        _refuse(kind, obj, [cause("FieldValueInvalid", message, "metadata.name")])
