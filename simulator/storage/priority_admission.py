"""Admits PriorityClasses, and sets the priority of a pod or PodGroup from its class.

Sources: pkg/apis/scheduling/validation, pkg/registry/scheduling/priorityclass and plugin/pkg/admission/priority of
Kubernetes 1.36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.status import Cause, bad_request, cause, forbidden, invalid

if TYPE_CHECKING:
    from simulator.kinds import ApiResource
    from simulator.objects import Object
    from simulator.storage.versioned_objects import VersionedObjects

KEY = "priorityclasses.scheduling.k8s.io"
HIGHEST_USER_PRIORITY = 1_000_000_000
SYSTEM_PREFIX = "system-"
SYSTEM = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}
_POLICIES = ("PreemptLowerPriority", "Never")
_INT32 = 2**31
_TYPES: tuple[tuple[str, type, str], ...] = (
    ("value", int, "int32"),
    ("globalDefault", bool, "bool"),
    ("description", str, "string"),
    ("preemptionPolicy", str, "v1.PreemptionPolicy"),
)


def admit(store: VersionedObjects, kind: ApiResource, obj: Object) -> None:
    """Check a new class, and complete it in place. Raises ApiError 400, 403 and 422."""
    _check_types(obj)
    obj.setdefault("value", 0)
    _refuse(kind, obj, [*_name_and_value(obj), *_policy(obj)])
    _check_default(store, kind, obj)


def admit_update(store: VersionedObjects, kind: ApiResource, old: Object, new: Object) -> None:
    """Check a changed class, and complete it in place. Raises ApiError 400, 403 and 422."""
    _check_types(new)
    new.setdefault("value", 0)
    causes = []
    if old["value"] != new["value"]:
        causes.append(cause("FieldValueForbidden", "Forbidden: may not be changed in an update.", "value"))
    if old.get("preemptionPolicy") != new.get("preemptionPolicy"):
        message = f'Invalid value: "{new.get("preemptionPolicy")}": field is immutable'
        causes.append(cause("FieldValueInvalid", message, "preemptionPolicy"))
    _refuse(kind, new, causes)
    _check_default(store, kind, new)


def check_removal(kind: ApiResource, name: str) -> None:
    """Raise ApiError 403 for a class that the cluster needs."""
    if kind.key == KEY and name in SYSTEM:
        raise forbidden(kind, name, "this is a system priority class and cannot be deleted")


def resolve(store: VersionedObjects, kind: ApiResource, pod: Object) -> None:
    """Give a new pod the priority and the preemption policy of its class, in place. Raises ApiError 403."""
    spec, pod_name = pod["spec"], pod["metadata"]["name"]
    named_class = _class_of(store, kind, pod)
    applied = named_class or {"value": 0, "preemptionPolicy": _POLICIES[0]}
    for field, field_text, value in (
        ("priority", "the integer value of priority", applied["value"]),
        ("preemptionPolicy", "the string value of PreemptionPolicy", applied["preemptionPolicy"]),
    ):
        if spec.get(field) not in (None, value):
            why = (
                f"{field_text} ({spec[field]}) must not be provided in pod spec; priority admission "
                f"controller computed {value} from the given PriorityClass name"
            )
            raise forbidden(kind, pod_name, why)
        spec[field] = value
    if named_class:
        spec["priorityClassName"] = named_class["metadata"]["name"]


def resolve_group(store: VersionedObjects, kind: ApiResource, group: Object) -> None:
    """Give a new PodGroup the priority of its class, in place. Raises ApiError 403."""
    spec = group["spec"]
    named_class = _class_of(store, kind, group)
    value = named_class["value"] if named_class else 0
    if spec.get("priority") not in (None, value):
        why = (
            f"priority set in the pod group ({spec['priority']}) must match the priority computed ({value}) based on "
            "the priority class set in the spec"
        )
        raise forbidden(kind, group["metadata"]["name"], why)
    spec["priority"] = value
    if named_class:
        spec["priorityClassName"] = named_class["metadata"]["name"]


def _class_of(store: VersionedObjects, kind: ApiResource, obj: Object) -> Object | None:
    """Return the class that a pod or PodGroup names, or else the default class, if any."""
    name = obj["spec"].get("priorityClassName")
    if not name:
        return _default(store)
    named_class = store.find(KEY, None, name)
    if named_class is None:
        raise forbidden(kind, obj["metadata"]["name"], f"no PriorityClass with name {name} was found")
    return named_class


def _default(store: VersionedObjects) -> Object | None:
    return next((item for item in store.list(KEY) if item.get("globalDefault")), None)


def _check_default(store: VersionedObjects, kind: ApiResource, obj: Object) -> None:
    other = _default(store) if obj.get("globalDefault") else None
    name = obj["metadata"]["name"]
    if other is not None and other["metadata"]["name"] != name:
        holder = other["metadata"]["name"]
        why = f"PriorityClass {holder} is already marked as default. Only one default can exist"
        raise forbidden(kind, name, why)


def _check_types(obj: Object) -> None:
    for field, type_, type_name in _TYPES:
        value: Any = obj.get(field)
        if value is None:
            obj.pop(field, None)
        elif not isinstance(value, type_) or (type_ is int and isinstance(value, bool)):
            why = f"json: cannot unmarshal into Go struct field PriorityClass.{field} of type {type_name}"
            raise bad_request(f'PriorityClass in version "v1" cannot be handled as a PriorityClass: {why}')
    if not -_INT32 <= obj.get("value", 0) < _INT32:
        why = f"json: cannot unmarshal number {obj['value']} into Go struct field PriorityClass.value of type int32"
        raise bad_request(f'PriorityClass in version "v1" cannot be handled as a PriorityClass: {why}')


def _name_and_value(obj: Object) -> list[Cause]:
    name, value = obj["metadata"]["name"], obj["value"]
    if name.startswith(SYSTEM_PREFIX):
        why = _no_system_class(name, value, bool(obj.get("globalDefault")))
        if not why:
            return []
        rule = f"priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system use only"
        return [cause("FieldValueForbidden", f"Forbidden: {rule}. error: {why}", "metadata.name")]
    if value > HIGHEST_USER_PRIORITY:
        message = f"Forbidden: maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        return [cause("FieldValueForbidden", message, "value")]
    return []


def _no_system_class(name: str, value: int, default: bool) -> str:
    """Return why a class is none of the built-in system classes; empty: it is one of them."""
    if name not in SYSTEM:
        return f"{name} is not a known system priority class"
    if value != SYSTEM[name]:
        return f"value of {name} PriorityClass must be {SYSTEM[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if default else ""


def _policy(obj: Object) -> list[Cause]:
    policy = obj.get("preemptionPolicy")
    if policy in _POLICIES:
        return []
    if not policy:
        return [cause("FieldValueRequired", "Required value", "preemptionPolicy")]
    known = ", ".join(f'"{value}"' for value in _POLICIES)
    message = f'Unsupported value: "{policy}": supported values: {known}'
    return [cause("FieldValueNotSupported", message, "preemptionPolicy")]


def _refuse(kind: ApiResource, obj: Object, causes: list[Cause]) -> None:
    if causes:
        raise invalid(kind, obj["metadata"]["name"], causes)
