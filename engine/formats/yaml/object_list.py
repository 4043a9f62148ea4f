"""Kubernetes objects in a text of any number of documents and lists: found with their lines, added and removed."""

from collections.abc import Collection, Iterator, Mapping, MutableMapping
from typing import Any

from ruamel.yaml.comments import CommentedMap

from engine.formats.yaml.documents import failure, is_json, line_of, line_of_start, load, to_commented
from engine.formats.yaml.edited_text import EditedText
from engine.model.message import gettext_noop
from engine.model.notes import NoteCollector, Severity

MOST_OBJECTS = 100_000
"""Largest number of objects in a text: with aliases, a small document can describe very many."""

Fields = MutableMapping[str, Any]


class Object:
    """An object in a text. ``fields`` is its content, which may be changed."""

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        metadata = fields.get("metadata")
        self.metadata: Fields = metadata if isinstance(metadata, MutableMapping) else CommentedMap()
        self.group, _slash, self.version = str(fields.get("apiVersion") or "").rpartition("/")
        self.kind = str(fields.get("kind") or "")
        self.name = str(self.metadata.get("name") or "")
        self.namespace = str(self.metadata.get("namespace") or "")
        self.called = self.name
        """The name that the queue is derived from, and by which other objects refer to this object."""

    @property
    def line(self) -> int | None:
        """Return the line of the object's name, else the line at which the object begins."""
        return line_of(self.metadata, "name") or line_of_start(self.fields)

    @property
    def title(self) -> str:
        """Return kind and name for display, for example ``ClusterQueue team-a``."""
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}"

    @property
    def spec(self) -> Fields:
        """Return the spec, or an empty mapping if the object has none."""
        spec = self.fields.get("spec")
        return spec if isinstance(spec, MutableMapping) else CommentedMap()

    def own_spec(self) -> Fields:
        """Return the spec for writing, creating it if the object has none."""
        if not isinstance(self.fields.get("spec"), MutableMapping):
            self.fields["spec"] = CommentedMap()
        return self.spec

    def annotation(self, name: str) -> Any:
        """Return the value of an annotation; None if it is missing."""
        annotations = self.metadata.get("annotations")
        return annotations.get(name) if isinstance(annotations, Mapping) else None

    def annotate(self, name: str, text: str | None) -> None:
        """Set an annotation to a text; None removes the annotation."""
        annotations = self.metadata.get("annotations")
        if text is None:
            if isinstance(annotations, MutableMapping) and name in annotations:
                del annotations[name]
                if not annotations:
                    del self.metadata["annotations"]
            return
        if not isinstance(annotations, MutableMapping):
            annotations = self.metadata["annotations"] = CommentedMap()
        annotations[name] = text


class ObjectList:
    """The objects in a text, for reading or, with ``changing``, for rewriting.

    Raises ImportFailure for a text that can't be read as objects.
    """

    def __init__(self, text: str, *, changing: bool = False) -> None:
        self.text = text
        self._edited = EditedText(text) if changing else None
        self.documents = list(self._edited.documents) if self._edited else load(text)
        self.objects = [Object(fields) for fields in self._object_fields()]
        self._lists = [document["items"] for document in self.documents if _is_list(document)]

    def _object_fields(self) -> Iterator[Fields]:
        objects_left = MOST_OBJECTS
        pending: list[Any] = self.documents[::-1]
        while pending:
            item = pending.pop()
            objects_left -= 1
            if objects_left < 0:
                raise failure(
                    None, gettext_noop("The document has more than %(most)s objects."), str(MOST_OBJECTS), "most"
                )
            if item is None:
                continue
            if not isinstance(item, MutableMapping):
                raise failure(line_of_start(item), gettext_noop("An object must be a mapping with a kind."))
            items = item.get("items")
            if str(item.get("kind") or "").endswith("List") and isinstance(items, list):
                pending += items[::-1]
            else:
                yield item

    def note_unnamed(self, book: NoteCollector) -> None:
        """Add an error for every object without a kind or a name."""
        for obj in self.objects:
            if not obj.kind or not obj.name:
                book.add(Severity.ERROR, "", obj.line, gettext_noop("An object must have a kind and a metadata.name."))

    def add(self, fields: Mapping[str, Any]) -> Object:
        """Add an object where the others are: to their list, or as another document."""
        made = Object(to_commented(fields))
        (self._lists[0] if self._lists else self.documents).append(made.fields)
        self.objects.append(made)
        return made

    def remove(self, objects: Collection[Object]) -> None:
        """Remove objects from the text."""
        removed = {id(obj.fields) for obj in objects}
        self.objects = [obj for obj in self.objects if id(obj.fields) not in removed]
        for listed in (self.documents, *self._lists):
            listed[:] = [item for item in listed if id(item) not in removed]

    def written(self) -> str:
        """Return the text with the changes in it; everything else is as it was typed."""
        if is_json(self.text) and (len(self.documents) != 1):
            self.documents = [{"apiVersion": "v1", "kind": "List", "items": self.documents}]
        assert self._edited is not None
        return self._edited.written(self.documents)


def _is_list(document: Any) -> bool:
    return isinstance(document, Mapping) and isinstance(document.get("items"), list)
