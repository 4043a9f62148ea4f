"""Handles CustomResourceDefinitions: creating one serves its kinds, deleting one deletes its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.kinds import ApiResource, PrinterColumn
from simulator.objects import Object, set_condition, timestamp

if TYPE_CHECKING:
    from simulator.storage.versioned_objects import VersionedObjects

KEY = "customresourcedefinitions.apiextensions.k8s.io"
# The finalizer of a definition that is being deleted, until its objects are deleted.
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


def kinds_of(definition: Object) -> list[ApiResource]:
    """Return the kinds that a definition serves, the stored version first."""
    spec = definition["spec"]
    versions = sorted((item for item in spec["versions"] if item.get("served")), key=lambda item: not item["storage"])
    return [_kind(spec, version) for version in versions]


def _kind(spec: Object, version: Object) -> ApiResource:
    names = spec["names"]
    return ApiResource(
        group=spec["group"],
        version=version["name"],
        kind=names["kind"],
        plural=names["plural"],
        singular=names.get("singular") or names["kind"].lower(),
        namespaced=spec["scope"] == "Namespaced",
        short_names=tuple(names.get("shortNames") or ()),
        subresources=("status",) if "status" in (version.get("subresources") or ()) else (),
        categories=tuple(names.get("categories") or ()),
        fields=tuple(item["jsonPath"].lstrip(".") for item in version.get("selectableFields") or ()),
        generation=True,
        custom=True,
        columns=tuple(
            PrinterColumn(item["name"], item["type"], item["jsonPath"], item.get("priority", 0))
            for item in version.get("additionalPrinterColumns") or ()
        ),
    )


def establish(store: VersionedObjects, definition: Object) -> None:
    """Record in a definition's status (changed in place) that its kinds are served."""
    now = timestamp(store.now())
    names = definition["spec"]["names"]
    names.setdefault("singular", names["kind"].lower())
    names.setdefault("listKind", names["kind"] + "List")
    stored = [item["name"] for item in definition["spec"]["versions"] if item["storage"]]
    definition["status"] = {"acceptedNames": names, "storedVersions": stored, "conditions": []}
    for type_, reason, message in (
        ("NamesAccepted", "NoConflicts", "no conflicts found"),
        ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ):
        set_condition(definition, {"type": type_, "status": "True", "reason": reason, "message": message}, now)


def serve(store: VersionedObjects, definition: Object) -> None:
    """Serve exactly the kinds in a definition's current version."""
    store.kinds.discard(definition["metadata"]["name"])
    for kind in kinds_of(definition):
        store.kinds.add(kind)
