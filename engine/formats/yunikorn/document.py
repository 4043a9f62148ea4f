"""A queues.yaml as a document: text to mappings and back, its partition and the top of its tree."""

from collections.abc import Mapping
from io import StringIO
from itertools import accumulate
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from engine.formats.notes import ImportFailure, Note, Notebook, Severity, gettext_noop
from engine.formats.yunikorn.fields import line_of
from engine.queues import ROOT, Queue

IMPLIED_ROOT = Queue(path=ROOT, parent_declared=True)
"""What several top queues are put under."""
PLACEMENT = "placementrules"
DEEPEST = 100
"""Brackets nested deeper are refused unread: the time that the YAML reader takes grows with their depth squared."""


def load(document: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """The document as mappings and lists that know their lines and comments. Raises ImportFailure."""
    if isinstance(document, Mapping):
        return document
    if _depth(document) > DEEPEST:
        raise failure(None, gettext_noop("Brackets are nested more than %(most)s deep."), str(DEEPEST), "most")
    try:
        yaml = YAML(typ="rt")
        yaml.preserve_quotes = True
        loaded = yaml.load(document)
    except (YAMLError, ValueError, RecursionError) as error:
        raise failure(_line_of_error(error), gettext_noop("This is not YAML: %(problem)s."), _problem(error)) from error
    if not isinstance(loaded, Mapping):
        raise failure(None, gettext_noop("A queues.yaml starts with partitions."))
    return loaded


def _depth(text: str) -> int:
    """How deep brackets nest, those inside of texts counted too."""
    steps = (1 if mark in "[{" else -1 for mark in text if mark in "[]{}")
    return max(accumulate(steps), default=0)


def dump(document: Mapping[str, Any]) -> str:
    """The document as YAML, comments kept where it was loaded from text."""
    yaml, stream = YAML(typ="rt"), StringIO()
    yaml.width = 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.dump(document, stream)
    return stream.getvalue()


def partition_of(document: Mapping[str, Any], book: Notebook) -> Mapping[str, Any]:
    """The partition that is read: the one named default, else the first. Raises ImportFailure when there is none."""
    partitions = document.get("partitions")
    if not isinstance(partitions, list) or not partitions or not all(isinstance(one, Mapping) for one in partitions):
        raise failure(None, gettext_noop("A queues.yaml starts with partitions."))
    chosen: Mapping[str, Any] = next((one for one in partitions if one.get("name") == "default"), partitions[0])
    for other in partitions:
        if other is not chosen:
            message = gettext_noop("Partition %(name)s is kept, not shown: pods of Kubernetes run in one partition.")
            book.add(Severity.INFO, "", line_of(other, "name"), message, name=str(other.get("name")))
    note_kept(chosen, set(chosen) - {"name", "queues", PLACEMENT}, "", book)
    note_kept(document, set(document) - {"partitions"}, "", book)
    return chosen


def top_queues(partition: Mapping[str, Any]) -> tuple[list[Any], bool]:
    """The partition's list of queues, and whether the root is implied rather than its only member."""
    queues = partition.get("queues") or []
    if not isinstance(queues, list):
        raise failure(line_of(partition, "queues"), gettext_noop("queues must be a list."))
    alone = len(queues) == 1 and isinstance(queues[0], Mapping) and str(queues[0].get("name")).lower() == ROOT
    return queues, not alone


def note_kept(mapping: Mapping[str, Any], fields: set[str], path: str, book: Notebook) -> None:
    """Say of each field that it is kept though it means nothing here."""
    for field in sorted(fields, key=str):
        message = gettext_noop("%(field)s has no counterpart here; it is kept and written back.")
        book.add(Severity.INFO, path, line_of(mapping, field), message, field=str(field))


def failure(line: int | None, message: str, value: str = "", name: str = "problem") -> ImportFailure:
    """The failure of a whole document, with one error whose message names ``value`` as ``name``."""
    params = {name: value} if value else {}
    return ImportFailure((Note(severity=Severity.ERROR, path="", line=line, message=message, params=params),))


def _problem(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(getattr(error, "problem", None) or str(error).partition("\n")[0])


def _line_of_error(error: Exception) -> int | None:
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    return mark.line + 1 if mark is not None else None
