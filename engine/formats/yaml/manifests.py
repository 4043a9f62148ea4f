"""Reading of manifests from YAML or JSON files, with the place of every object for error messages."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from engine.formats.yaml.merge_keys import UNREADABLE

Object = dict[str, Any]
_YAML, _JSON = (".yaml", ".yml"), ".json"


class ManifestError(ValueError):
    """An error in a file that makes it unusable; ``str()`` is a sentence that names the place."""


@dataclass(frozen=True, slots=True)
class ManifestDocument:
    """An object in a file, with the place where it was found."""

    obj: Object
    where: str

    def names(self, kind: str, place: str) -> bool:
        """Return whether this is the object of the given kind at ``namespace/name``."""
        meta = self.obj["metadata"]
        return bool(self.obj["kind"] == kind and f"{meta.get('namespace', 'default')}/{meta.get('name')}" == place)


def read_yaml(path: Path) -> list[tuple[Any, int]]:
    """Return every document of a file, with the line at which it begins. Raise ManifestError."""
    try:
        with path.open(encoding="utf-8") as file:
            documents = list(YAML(typ="rt").load_all(file))
    except OSError as error:
        raise ManifestError(f"{path} cannot be read: {error.strerror}.") from error
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ManifestError(f"{path}, line {line}: not valid YAML: {error.problem}.") from error
    except RecursionError as error:
        raise ManifestError(f"{path} is nested too deeply.") from error
    except UNREADABLE as error:
        raise ManifestError(f"{path} is not a YAML file in UTF-8.") from error
    return [(document, line_of(document)) for document in documents]


def line_of(value: Any) -> int:
    """Return the line, from 1, at which a mapping or sequence begins; 1 if it is not known."""
    return int(value.lc.line) + 1 if hasattr(value, "lc") and value.lc.line is not None else 1


def plain(value: Any) -> Any:
    """Return a value that was read from YAML, converted to JSON's types."""
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


def load(sources: Iterable[str | Path | Object]) -> Iterator[ManifestDocument]:
    """Yield the objects in directories, files and dictionaries, and the items of lists. Raise ManifestError."""
    for source in sources:
        if isinstance(source, dict):
            yield from _flatten_lists(source, "an object given directly")
        else:
            for path in _files(Path(source)):
                yield from _of_file(path)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.suffix in (*_YAML, _JSON))
    if not path.exists():
        raise ManifestError(f"{path} does not exist.")
    return [path]


def _of_file(path: Path) -> Iterator[ManifestDocument]:
    if path.suffix == _JSON:
        yield from _flatten_lists(_read_json(path), str(path))
        return
    for number, (content, line) in enumerate(read_yaml(path), start=1):
        if content is not None:
            where = f"{path}, line {line} (document {number})"
            try:
                obj = plain(content)
            except RecursionError as error:
                raise ManifestError(f"{where}: it contains itself or is nested too deeply.") from error
            yield from _flatten_lists(obj, where)


def _read_json(path: Path) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise ManifestError(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ManifestError(f"{path} is not valid JSON: {error}.") from error


def _flatten_lists(obj: Any, where: str) -> Iterator[ManifestDocument]:
    if not isinstance(obj, dict):
        raise ManifestError(f"{where}: this is not a Kubernetes object but a {type(obj).__name__}.")
    kind, items = obj.get("kind"), obj.get("items")
    if kind == "List" or (isinstance(kind, str) and kind.endswith("List") and isinstance(items, list)):
        of = {} if kind == "List" else {"apiVersion": obj.get("apiVersion"), "kind": kind.removesuffix("List")}
        if items is not None and not isinstance(items, list):
            raise ManifestError(f"{where}: items must be a list.")
        for index, item in enumerate(items or (), start=1):
            yield from _flatten_lists({**of, **item} if isinstance(item, dict) else item, f"{where}, item {index}")
        return
    for field in ("apiVersion", "kind", "metadata"):
        if not obj.get(field):
            raise ManifestError(f"{where}: the object has no {field}.")
    meta = obj["metadata"]
    if not isinstance(meta, dict) or not (meta.get("name") or meta.get("generateName")):
        raise ManifestError(f"{where}: the {obj['kind']} has no metadata.name.")
    yield ManifestDocument(obj, where)
