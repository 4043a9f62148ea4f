"""Access to the document of a queues.yaml: parsing, its partition and the top of its tree."""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.formats.yaml import documents
from engine.formats.yaml.documents import failure, line_of, note_others
from engine.formats.yunikorn.strict import DOCUMENT, PARTITION
from engine.model.message import gettext_noop
from engine.model.notes import NoteCollector, Severity
from engine.model.queue_tree import ROOT, Queue

IMPLIED_ROOT = Queue(path=ROOT, parent_declared=True)
"""Root that is implied above several top-level queues."""
PLACEMENT = "placementrules"


def load(document: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the document as mappings and lists that know their lines.

    Raise ImportFailure if the text is not a single mapping.
    """
    return document if isinstance(document, Mapping) else only_mapping(documents.load(document))


def only_mapping(loaded: Sequence[Any]) -> Mapping[str, Any]:
    """Return the only document of a text. Raise ImportFailure if the text is not a single mapping."""
    if len(loaded) != 1 or not isinstance(loaded[0], Mapping):
        raise failure(None, gettext_noop("A queues.yaml must begin with partitions."))
    return loaded[0]


def partition_of(document: Mapping[str, Any], book: NoteCollector) -> Mapping[str, Any]:
    """Return the partition that is read: the one named default, else the first.

    Raise ImportFailure if there is no partition.
    """
    partitions = document.get("partitions")
    if (
        not isinstance(partitions, list)
        or not partitions
        or not all(isinstance(partition, Mapping) for partition in partitions)
    ):
        raise failure(None, gettext_noop("A queues.yaml must begin with partitions."))
    chosen: Mapping[str, Any] = next(
        (partition for partition in partitions if partition.get("name") == "default"), partitions[0]
    )
    for other in partitions:
        if other is not chosen:
            message = gettext_noop(
                "Partition %(name)s is kept but not shown. Kubernetes pods run in only one partition."
            )
            book.add(Severity.INFO, "", line_of(other, "name"), message, name=str(other.get("name")))
    note_others(chosen, {"name", "queues", PLACEMENT}, "", book, known=PARTITION)
    note_others(document, DOCUMENT, "", book)
    return chosen


def top_queues(partition: Mapping[str, Any]) -> tuple[list[Any], bool]:
    """Return the partition's list of queues, and whether the root is implied instead of being its only member.

    Raise ImportFailure if the queues are not a list.
    """
    queues = partition.get("queues") or []
    if not isinstance(queues, list):
        raise failure(line_of(partition, "queues"), gettext_noop("queues must be a list."))
    alone = len(queues) == 1 and isinstance(queues[0], Mapping) and str(queues[0].get("name")).lower() == ROOT
    return queues, not alone
