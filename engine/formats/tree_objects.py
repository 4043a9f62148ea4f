"""The objects in which a cluster keeps a queue tree, reduced to the fields that the tree is read from or decides."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.formats.tree_json.queue_annotation import ANNOTATION
from engine.formats.yaml.emitter import emit
from engine.formats.yaml.manifests import plain
from engine.formats.yaml.object_list import Object, ObjectList


class TreeObject(msgspec.Struct, frozen=True):
    """An object without its status and server-set metadata; two with the same content are equal."""

    body: dict[str, Any]

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> "TreeObject":
        """Return an object reduced to apiVersion, kind, name, namespace, our annotation and spec."""
        source = Object(dict(obj))
        annotation = source.annotation(ANNOTATION)
        annotations = {} if annotation is None else {"annotations": {ANNOTATION: str(annotation)}}
        namespace = {"namespace": source.namespace} if source.namespace else {}
        metadata = {"name": source.name, **namespace, **annotations}
        named = {"apiVersion": str(obj.get("apiVersion") or ""), "kind": source.kind, "metadata": metadata}
        return cls({**named, "spec": plain(source.spec)})

    @property
    def kind(self) -> str:
        return str(self.body["kind"])

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Return the namespace; empty for an object of a cluster-scoped kind."""
        return str(self.body["metadata"].get("namespace", ""))

    @property
    def key(self) -> tuple[str, str, str]:
        """Return kind, namespace and name, which identify the object."""
        return self.kind, self.namespace, self.name

    @property
    def title(self) -> str:
        """Return kind and name for display, for example ``ClusterQueue team-a``."""
        return Object(self.body).title


@dataclass(frozen=True)
class Family:
    """The kinds of objects that together hold one queue tree."""

    group: str
    versions: tuple[str, ...]
    """API versions, the newest first."""
    resources: Mapping[str, str]
    """Kind -> API resource name; kinds that others refer to come first."""
    anchor: str
    """The kind that must be installed; without it, none of the other kinds is present."""
    decided: Callable[[TreeObject], tuple[str, ...]]
    """Returns the fields of an object's spec that the tree decides."""
    by_key: tuple[str, ...] = ()
    """The decided fields that are mappings; the tree decides every key in them."""
    inside: tuple[str, str, str] | None = None
    """Path of the only nested field that is removed by itself when the tree no longer sets it."""


def manifest(family: Family, objects: Iterable[TreeObject]) -> str:
    """Return objects as one text; equal objects always result in the same text."""
    order = list(family.resources)
    ordered = sorted(objects, key=lambda obj: (order.index(obj.kind), obj.namespace, obj.name))
    return emit((obj.body for obj in ordered), explicit_start=True) if ordered else ""


def parse(family: Family, text: str) -> dict[tuple[str, str, str], TreeObject]:
    """Return the objects of a text that ``manifest`` wrote; kinds that others refer to come first.

    Raise ImportFailure for a text that can't be read.
    """
    order = list(family.resources)
    objects = [TreeObject.of(plain(obj.fields)) for obj in ObjectList(text).objects if obj.kind in order]
    return {obj.key: obj for obj in sorted(objects, key=lambda obj: order.index(obj.kind))}


def apply_body(
    family: Family, before: TreeObject | None, desired: TreeObject, applied: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the body to apply in order to turn an object into ``desired``.

    For an existing object it contains only the fields that a tree decides. ``applied`` lists the spec fields that we
    applied before; the API server removes them if they are no longer sent.
    """
    if before is None:
        return desired.body
    fields = dict.fromkeys((*family.decided(desired), *applied))
    spec = {field: desired.body["spec"][field] for field in fields if field in desired.body["spec"]}
    return {**desired.body, "spec": spec}


def after_apply(family: Family, before: TreeObject, desired: TreeObject) -> TreeObject:
    """Return an object's content after all fields are applied but before any field is removed."""
    body = apply_body(family, before, desired)
    metadata = {**before.body["metadata"], **body["metadata"]}
    return TreeObject({**before.body, "metadata": metadata, "spec": _merged(before.body["spec"], body["spec"])})


def _merged(before: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two specs as server-side apply does: fields of other managers are kept, within mappings too."""
    both = [name for name in sent if isinstance(sent[name], Mapping) and isinstance(before.get(name), Mapping)]
    return {**before, **sent, **{name: _merged(before[name], sent[name]) for name in both}}


def removal_patch(family: Family, stored: TreeObject, desired: TreeObject) -> dict[str, Any]:
    """Return a merge patch that removes what the tree decides but no longer contains; empty if nothing is removed."""
    stored_spec, desired_spec = stored.body["spec"], desired.body["spec"]
    removed = [field for field in family.decided(desired) if field in stored_spec and field not in desired_spec]
    spec: dict[str, Any] = dict.fromkeys(removed)
    spec |= {
        name: dict.fromkeys(removed_keys)
        for name in family.by_key
        if name not in removed
        and (removed_keys := [key for key in stored_spec.get(name) or {} if key not in desired_spec[name]])
    }
    if family.inside and family.inside[0] not in removed and _at(family.inside, stored_spec) is not None:
        outer, inner, inner_field = family.inside
        if _at(family.inside, desired_spec) is None:
            spec[outer] = {inner: {inner_field: None}}
    patch: dict[str, Any] = {"spec": spec} if spec else {}
    if "annotations" in stored.body["metadata"] and "annotations" not in desired.body["metadata"]:
        patch["metadata"] = {"annotations": {ANNOTATION: None}}
    return patch


def _at(path: Iterable[str], spec: Mapping[str, Any]) -> Any:
    """Return the value at a path of keys; None if it is missing."""
    value: Any = spec
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
