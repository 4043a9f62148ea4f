"""Kueue's objects as an API server keeps them, down to what a tree is read from; and what of them a tree decides."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from engine.formats.documents import dump
from engine.formats.kueue.names import CLUSTER_QUEUE, COHORT, LOCAL_QUEUE, parent_field
from engine.formats.kueue.rules import MAY_GO, PREEMPTION, rule_fields
from engine.formats.manifests import plain
from engine.formats.objects import Manifests, Object
from engine.formats.ours import ANNOTATION

OBJECTS = {COHORT: "cohorts", CLUSTER_QUEUE: "clusterqueues", LOCAL_QUEUE: "localqueues"}
"""Kind -> resource, those first that others name."""
_ORDER = list(OBJECTS)


class Found(msgspec.Struct, frozen=True):
    """One object, without status and what the API server notes of it. Two that say the same are equal."""

    body: dict[str, Any]

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> "Found":
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


def manifest(found: Iterable[Found]) -> str:
    """Objects as one text, the same for the same objects."""
    ordered = sorted(found, key=lambda one: (_ORDER.index(one.kind), one.namespace, one.name))
    return dump([one.body for one in ordered], "---") if ordered else ""


def parse(text: str) -> dict[tuple[str, str, str], Found]:
    """The objects of such a text, those first that others name. Raises ImportFailure."""
    found = [Found.of(plain(one.fields)) for one in Manifests(text).objects if one.kind in OBJECTS]
    return {one.key: one for one in sorted(found, key=lambda one: _ORDER.index(one.kind))}


def sent(before: Found | None, wanted: Found, own: Iterable[str] = ()) -> dict[str, Any]:
    """What is applied to make an object what it is to be: of one that is there only what a tree decides.

    ``own``: the fields of its spec that we applied before, which go if they are no longer sent.
    """
    if before is None:
        return wanted.body
    fields = dict.fromkeys((*_decided(wanted), *own))
    spec = {field: wanted.body["spec"][field] for field in fields if field in wanted.body["spec"]}
    return {**wanted.body, "spec": spec}


def halfway(before: Found, wanted: Found) -> Found:
    """What an object says when all was sent, and nothing taken away yet."""
    body = sent(before, wanted)
    metadata = {**before.body["metadata"], **body["metadata"]}
    return Found({**before.body, "metadata": metadata, "spec": _merged(before.body["spec"], body["spec"])})


def _merged(before: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """As applying does: what others answer for stays, within mappings as well."""
    both = [name for name in sent if isinstance(sent[name], Mapping) and isinstance(before.get(name), Mapping)]
    return {**before, **sent, **{name: _merged(before[name], sent[name]) for name in both}}


def taken_away(there: Found, wanted: Found) -> dict[str, Any]:
    """A merge patch that takes away what the tree decides and no longer has; empty: nothing."""
    gone = [one for one in _decided(wanted) if one in there.body["spec"] and one not in wanted.body["spec"]]
    spec: dict[str, Any] = dict.fromkeys(gone)
    if PREEMPTION not in gone and _inside(there) is not None and _inside(wanted) is None:
        outer, inner, field = MAY_GO
        spec[outer] = {inner: {field: None}}
    patch: dict[str, Any] = {"spec": spec} if spec else {}
    if "annotations" in there.body["metadata"] and "annotations" not in wanted.body["metadata"]:
        patch["metadata"] = {"annotations": {ANNOTATION: None}}
    return patch


def _inside(one: Found) -> Any:
    """What stands at MAY_GO, None: nothing."""
    found = one.body["spec"]
    for name in MAY_GO:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _decided(one: Found) -> tuple[str, ...]:
    """The fields of its spec that say what a tree says."""
    if one.kind == LOCAL_QUEUE:
        return ("clusterQueue",)
    return ("resourceGroups", parent_field(Object(one.body)), *sorted(rule_fields(one.kind)))
