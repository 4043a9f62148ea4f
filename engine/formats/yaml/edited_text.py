"""A text whose documents are changed in place, and which is then written with everything else as it was typed."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from engine.formats.yaml.documents import dump, is_json, load, splice_changes
from engine.formats.yaml.emitter import emit
from engine.formats.yaml.libyaml import LONGEST_ODD
from engine.formats.yaml.long_texts import change_document, documents_in, offset_of
from engine.formats.yaml.manifests import plain
from engine.model.notes import ImportFailure

_LONGEST_DUMP = 1_000_000
"""Longest notation of values that ruamel.yaml writes, in characters; it takes about two seconds."""


class EditedText:
    """A text and its ``documents``, which may be changed, added and removed. Raises ImportFailure as ``load`` does.

    The values of a long text are plain mappings and lists; those of a short one know comments and notations.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._is_long = len(text) > LONGEST_ODD
        self.documents = load(text, for_writing=not self._is_long)
        self._read = list(self.documents)
        self._was = [repr(document) for document in self._read] if self._is_long else []
        self._before = dump(self.documents, text) if text.strip() and not self._is_long else ""

    def written(self, documents: Sequence[Any]) -> str:
        """Return the text with other documents: those that were read, changed or not, and new ones."""
        if not self.text.strip():
            return emit(map(plain, documents)) if documents else ""
        if not self._is_long and len(repr(documents)) <= _LONGEST_DUMP:
            return splice_changes(self.text, self._before, dump(documents, self.text) if documents else "")
        changed = {id(one) for one, was in zip_longest(self._read, self._was) if repr(one) != was}
        if not changed and list(map(id, documents)) == list(map(id, self._read)):
            return self.text
        return dump(documents, self.text) if is_json(self.text) else self._divided(documents, changed)

    def _divided(self, documents: Sequence[Any], changed: set[int]) -> str:
        """Return the text with only those lines written anew that must be."""
        offset, texts = offset_of(self.text), documents_in(self.text)
        if len(texts) != len(self._read) or not self.text.endswith("\n"):
            return emit(map(plain, documents), offset, explicit_start=self.text.startswith("---"))
        text_of = {id(document): text for document, text in zip(self._read, texts, strict=True)}
        written: list[str] = []
        for document in documents:
            text = text_of.get(id(document), "")
            if not text:
                written.append(("---\n" if written else "") + emit([plain(document)], offset))
            elif id(document) in changed:
                written.append(_changed(text, document, offset))
            else:
                written.append(text)
        return "".join(written).removeprefix("" if self.text.startswith("---") else "---\n")


def _same(first: Any, second: Any) -> bool:
    """Return whether two values are equal, where a number may be in the quotes of the one that it replaced."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_same(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first == second) or (isinstance(first, str) and type(second) is int and first == str(second))


def _changed(text: str, after: Any, offset: int) -> str:
    """Return the text of a document with other content; written anew if its lines can't be divided."""
    try:
        (before,) = load(text)
        changed = change_document(text, before, after, offset)
        if _same(load(changed), [after]):
            return changed
    except (ImportFailure, ValueError, LookupError):
        pass
    return ("---\n" if text.startswith("---") else "") + emit([plain(after)], offset)
