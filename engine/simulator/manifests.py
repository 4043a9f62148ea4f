"""Ordinary YAML manifests: read with the place of everything, so that an error names its file and line."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from engine.simulator.kinds import Kind
from engine.simulator.objects import Object
from engine.simulator.status import ApiError
from engine.simulator.store import Store

TEMPLATE = "simulator.scheduler-admin.io/template"
"""A Job with this annotation (`"true"`) is not created; the script makes Jobs from it."""
FIRST = ("CustomResourceDefinition", "Namespace", "PriorityClass", "Node", "ResourceQuota", "PodDisruptionBudget")
"""What others rest on is created before them, wherever it stands in the files."""

LEASES = "leases.coordination.k8s.io"
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
KEPT = ("namespaces", LEASES, DEFINITIONS)
"""What may be there already: namespaces that every cluster has, and what a reset leaves alone."""


class ManifestError(ValueError):
    """Something in a file that can't be used; `str()` is a sentence that says where."""


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a file."""

    obj: Object
    where: str

    @property
    def is_template(self) -> bool:
        """Tell whether it only serves the script."""
        annotations = (self.obj.get("metadata") or {}).get("annotations") or {}
        return annotations.get(TEMPLATE) == "true"

    def names(self, kind: str, place: str) -> bool:
        """Tell whether it is the object of that kind at `namespace/name`."""
        meta = self.obj["metadata"]
        return bool(self.obj["kind"] == kind and f"{meta.get('namespace', 'default')}/{meta.get('name')}" == place)


def read_yaml(path: Path) -> list[tuple[Any, int]]:
    """Return every document of a file, with the line it begins at. Raises ManifestError."""
    try:
        with path.open(encoding="utf-8") as file:
            documents = list(YAML(typ="rt").load_all(file))
    except OSError as error:
        raise ManifestError(f"{path} can't be read: {error.strerror}.") from error
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ManifestError(f"{path}, line {line}: not valid YAML: {error.problem}.") from error
    except (YAMLError, UnicodeDecodeError) as error:
        raise ManifestError(f"{path} is not a YAML file in UTF-8.") from error
    return [(document, line_of(document)) for document in documents]


def line_of(value: Any) -> int:
    """Return the line, from 1, at which a mapping or sequence that was read begins."""
    return int(value.lc.line) + 1 if hasattr(value, "lc") and value.lc.line is not None else 1


def plain(value: Any) -> Any:
    """Return what was read as JSON knows it."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    for type_ in (bool, int, float, str):
        if isinstance(value, type_):
            return type_(value)
    return value


def load(sources: Iterable[str | Path | Object]) -> list[Document]:
    """Read directories, files and objects given as dictionaries. Raises ManifestError."""
    found: list[Document] = []
    for source in sources:
        if isinstance(source, dict):
            found += _taken_apart(source, "an object given directly")
        else:
            for path in _files(Path(source)):
                found += _of_file(path)
    order = {kind: index for index, kind in enumerate(FIRST)}
    return sorted(found, key=lambda document: order.get(document.obj["kind"], len(FIRST)))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.suffix in (".yaml", ".yml"))
    if not path.exists():
        raise ManifestError(f"{path} does not exist.")
    return [path]


def _of_file(path: Path) -> Iterator[Document]:
    for number, (content, line) in enumerate(read_yaml(path), start=1):
        if content is not None:
            yield from _taken_apart(plain(content), f"{path}, line {line} (document {number})")


def _taken_apart(obj: Any, where: str) -> Iterator[Document]:
    if not isinstance(obj, dict):
        raise ManifestError(f"{where}: this is not a Kubernetes object but a {type(obj).__name__}.")
    if obj.get("kind") == "List":
        for index, item in enumerate(obj.get("items") or (), start=1):
            yield from _taken_apart(item, f"{where}, item {index}")
        return
    for field in ("apiVersion", "kind", "metadata"):
        if not obj.get(field):
            raise ManifestError(f"{where}: the object has no {field}.")
    meta = obj["metadata"]
    if not isinstance(meta, dict) or not (meta.get("name") or meta.get("generateName")):
        raise ManifestError(f"{where}: the {obj['kind']} has no metadata.name.")
    yield Document(obj, where)


def create_all(store: Store, documents: Iterable[Document]) -> None:
    """Create every object that is not a template. Raises ManifestError."""
    for document in documents:
        if document.is_template:
            continue
        kind = _kind(store, document)
        name = document.obj["metadata"].get("name", "")
        if kind.storage in KEPT and _exists(store, kind, document.obj):
            continue
        try:
            store.create(kind.key, document.obj)
        except ApiError as error:
            raise ManifestError(f"{document.where}: {kind.kind} {name} can't be created: {error.message}.") from error


def _exists(store: Store, kind: Kind, obj: Object) -> bool:
    meta = obj["metadata"]
    namespace = meta.get("namespace", "default") if kind.namespaced else None
    return store.find(kind.storage, namespace, meta.get("name", "")) is not None


def _kind(store: Store, document: Document) -> Kind:
    obj = document.obj
    for kind in store.kinds:
        if (kind.api_version, kind.kind) == (obj["apiVersion"], obj["kind"]) and not kind.stored_as:
            return kind
    raise ManifestError(f"{document.where}: {obj['apiVersion']} {obj['kind']} is not a kind that the simulator serves.")
