"""The objects in which a cluster keeps a queue tree, reduced to the fields that the tree is read from or decides."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.formats.tree_json.queue_annotation import ANNOTATION
from engine.formats.yaml.documents import dump
from engine.formats.yaml.manifests import plain
from engine.formats.yaml.object_list import Object, ObjectList


class TreeObject(msgspec.Struct, frozen=True):
    """An object without its status and server-set metadata; two with the same content are equal."""

    body: dict[str, Any]

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> "TreeObject":
        """Return an object reduced to apiVersion, kind, name, namespace, our annotation and spec."""
        one = Object(dict(obj))
        ours = one.annotation(ANNOTATION)
        annotations = {} if ours is None else {"annotations": {ANNOTATION: str(ours)}}
        space = {"namespace": one.namespace} if one.namespace else {}
        metadata = {"name": one.name, **space, **annotations}
        named = {"apiVersion": str(obj.get("apiVersion") or ""), "kind": one.kind, "metadata": metadata}
        return cls({**named, "spec": plain(one.spec)})

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


def manifest(family: Family, found: Iterable[TreeObject]) -> str:
    """Return objects as one text; equal objects always result in the same text."""
    order = list(family.resources)
    ordered = sorted(found, key=lambda one: (order.index(one.kind), one.namespace, one.name))
    return dump([one.body for one in ordered], "---") if ordered else ""


def parse(family: Family, text: str) -> dict[tuple[str, str, str], TreeObject]:
    """Return the objects of a text that ``manifest`` wrote; kinds that others refer to come first.

    Raise ImportFailure for a text that can't be read.
    """
    order = list(family.resources)
    found = [TreeObject.of(plain(one.fields)) for one in ObjectList(text).objects if one.kind in order]
    return {one.key: one for one in sorted(found, key=lambda one: order.index(one.kind))}


def apply_body(
    family: Family, before: TreeObject | None, wanted: TreeObject, own: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the body to apply in order to turn an object into ``wanted``.

    For an existing object it contains only the fields that a tree decides. ``own`` lists the spec fields that we
    applied before; the API server removes them if they are no longer sent.
    """
    if before is None:
        return wanted.body
    fields = dict.fromkeys((*family.decided(wanted), *own))
    spec = {field: wanted.body["spec"][field] for field in fields if field in wanted.body["spec"]}
    return {**wanted.body, "spec": spec}


def after_apply(family: Family, before: TreeObject, wanted: TreeObject) -> TreeObject:
    """Return an object's content after all fields are applied but before any field is removed."""
    body = apply_body(family, before, wanted)
    metadata = {**before.body["metadata"], **body["metadata"]}
    return TreeObject({**before.body, "metadata": metadata, "spec": _merged(before.body["spec"], body["spec"])})


def _merged(before: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two specs as server-side apply does: fields of other managers are kept, within mappings too."""
    both = [name for name in sent if isinstance(sent[name], Mapping) and isinstance(before.get(name), Mapping)]
    return {**before, **sent, **{name: _merged(before[name], sent[name]) for name in both}}


def removal_patch(family: Family, there: TreeObject, wanted: TreeObject) -> dict[str, Any]:
    """Return a merge patch that removes what the tree decides but no longer contains; empty if nothing is removed."""
    has, wants = there.body["spec"], wanted.body["spec"]
    gone = [one for one in family.decided(wanted) if one in has and one not in wants]
    spec: dict[str, Any] = dict.fromkeys(gone)
    spec |= {
        name: dict.fromkeys(left)
        for name in family.by_key
        if name not in gone and (left := [key for key in has.get(name) or {} if key not in wants[name]])
    }
    if family.inside and family.inside[0] not in gone and _at(family.inside, has) is not None:
        outer, inner, field = family.inside
        if _at(family.inside, wants) is None:
            spec[outer] = {inner: {field: None}}
    patch: dict[str, Any] = {"spec": spec} if spec else {}
    if "annotations" in there.body["metadata"] and "annotations" not in wanted.body["metadata"]:
        patch["metadata"] = {"annotations": {ANNOTATION: None}}
    return patch


def _at(path: Iterable[str], spec: Mapping[str, Any]) -> Any:
    """Return the value at a path of keys; None if it is missing."""
    found: Any = spec
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
