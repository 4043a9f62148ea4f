"""Objects of which a cluster keeps a tree, down to what that is read from; and what of them a tree decides."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.formats.tree_json.queue_annotation import ANNOTATION
from engine.formats.yaml.documents import dump
from engine.formats.yaml.manifests import plain
from engine.formats.yaml.object_list import Object, ObjectList


class TreeObject(msgspec.Struct, frozen=True):
    """One object, without status and what the API server notes of it. Two that say the same are equal."""

    body: dict[str, Any]

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> "TreeObject":
        """Down to apiVersion, kind, name, namespace, our annotation, and spec."""
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
        """Empty where its kind lies in none."""
        return str(self.body["metadata"].get("namespace", ""))

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is told apart by."""
        return self.kind, self.namespace, self.name

    @property
    def title(self) -> str:
        """As people call it: ``ClusterQueue team-a``."""
        return Object(self.body).title


@dataclass(frozen=True)
class Family:
    """The kinds that keep one tree together."""

    group: str
    versions: tuple[str, ...]
    """The newest first."""
    resources: Mapping[str, str]
    """Kind -> resource, those first that others name."""
    anchor: str
    """The kind without which none of them is there."""
    decided: Callable[[TreeObject], tuple[str, ...]]
    """The fields of an object's spec that say what a tree says."""
    by_key: tuple[str, ...] = ()
    """Those of them that are mappings of which every key is decided."""
    inside: tuple[str, str, str] | None = None
    """Where inside a field that a tree does not decide it decides one."""


def manifest(family: Family, found: Iterable[TreeObject]) -> str:
    """Objects as one text, the same for the same objects."""
    order = list(family.resources)
    ordered = sorted(found, key=lambda one: (order.index(one.kind), one.namespace, one.name))
    return dump([one.body for one in ordered], "---") if ordered else ""


def parse(family: Family, text: str) -> dict[tuple[str, str, str], TreeObject]:
    """The objects of such a text, those first that others name. Raises ImportFailure."""
    order = list(family.resources)
    found = [TreeObject.of(plain(one.fields)) for one in ObjectList(text).objects if one.kind in order]
    return {one.key: one for one in sorted(found, key=lambda one: order.index(one.kind))}


def sent(family: Family, before: TreeObject | None, wanted: TreeObject, own: Iterable[str] = ()) -> dict[str, Any]:
    """What is applied to make an object what it is to be: of one that is there only what a tree decides.

    ``own``: the fields of its spec that we applied before, which go if they are no longer sent.
    """
    if before is None:
        return wanted.body
    fields = dict.fromkeys((*family.decided(wanted), *own))
    spec = {field: wanted.body["spec"][field] for field in fields if field in wanted.body["spec"]}
    return {**wanted.body, "spec": spec}


def halfway(family: Family, before: TreeObject, wanted: TreeObject) -> TreeObject:
    """What an object says when all was sent, and nothing taken away yet."""
    body = sent(family, before, wanted)
    metadata = {**before.body["metadata"], **body["metadata"]}
    return TreeObject({**before.body, "metadata": metadata, "spec": _merged(before.body["spec"], body["spec"])})


def _merged(before: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """As applying does: what others answer for stays, within mappings as well."""
    both = [name for name in sent if isinstance(sent[name], Mapping) and isinstance(before.get(name), Mapping)]
    return {**before, **sent, **{name: _merged(before[name], sent[name]) for name in both}}


def taken_away(family: Family, there: TreeObject, wanted: TreeObject) -> dict[str, Any]:
    """A merge patch that takes away what the tree decides and no longer has; empty: nothing."""
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
    """What stands there, None: nothing."""
    found: Any = spec
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
