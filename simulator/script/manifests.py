"""Loads the manifests that a simulated cluster begins with."""

from collections.abc import Iterable
from pathlib import Path

from engine.formats.yaml import manifests
from engine.formats.yaml.manifests import ManifestDocument, ManifestError
from simulator.kinds import ApiResource
from simulator.objects import Object
from simulator.status import ApiError
from simulator.storage.store import Store

TEMPLATE = "simulator.scheduler-admin.io/template"
"""A Job with this annotation (`"true"`) is not created; the script creates Jobs from it."""
FIRST = ("CustomResourceDefinition", "Namespace", "PriorityClass", "Node", "ResourceQuota", "PodDisruptionBudget")
"""Kinds that others depend on are created first, wherever they are in the files."""

LEASES = "leases.coordination.k8s.io"
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
KEPT = ("namespaces", LEASES, DEFINITIONS)
"""Kinds of which objects may exist already: namespaces of every cluster, and what a reset keeps."""


def load(sources: Iterable[str | Path | Object]) -> list[ManifestDocument]:
    """Read directories, files and objects, in the order in which they can be created. Raises ManifestError."""
    order = {kind: index for index, kind in enumerate(FIRST)}
    return sorted(manifests.load(sources), key=lambda document: order.get(document.obj["kind"], len(FIRST)))


def is_template(document: ManifestDocument) -> bool:
    """Return whether a document is only a template for the script."""
    annotations = (document.obj.get("metadata") or {}).get("annotations") or {}
    return annotations.get(TEMPLATE) == "true"


def create_all(store: Store, documents: Iterable[ManifestDocument]) -> None:
    """Create every object that is not a template. Raises ManifestError."""
    for document in documents:
        if is_template(document):
            continue
        kind = _kind(store, document)
        name = document.obj["metadata"].get("name", "")
        if kind.storage in KEPT and _exists(store, kind, document.obj):
            continue
        try:
            store.create(kind.key, document.obj)
        except ApiError as error:
            raise ManifestError(f"{document.where}: {kind.kind} {name} can't be created: {error.message}.") from error


def _exists(store: Store, kind: ApiResource, obj: Object) -> bool:
    meta = obj["metadata"]
    namespace = meta.get("namespace", "default") if kind.namespaced else None
    return store.find(kind.storage, namespace, meta.get("name", "")) is not None


def _kind(store: Store, document: ManifestDocument) -> ApiResource:
    obj = document.obj
    for kind in store.kinds:
        if (kind.api_version, kind.kind) == (obj["apiVersion"], obj["kind"]) and not kind.stored_as:
            return kind
    raise ManifestError(f"{document.where}: {obj['apiVersion']} {obj['kind']} is not a kind that the simulator serves.")
