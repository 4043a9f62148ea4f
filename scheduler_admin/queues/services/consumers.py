"""Schedulers that read a hierarchy's trees themselves, and what they have against one: it is never published then."""

from typing import NamedTuple, Protocol, cast

from engine.formats import registry
from engine.formats.import_result import Imported
from engine.formats.import_result import unwritten_setting_notes as unwritten
from engine.formats.registry import Format
from engine.formats.yunikorn.user_limits import limit_errors
from engine.model.message import gettext_noop
from engine.model.notes import ImportFailure, Note
from engine.model.queue_tree import QueueTree
from engine.policies import lint_rules
from engine.tree.lint import errors
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.signals import consulting

COMPARED = (Format.YUNIKORN, Format.KUEUE, Format.CONSUMERS)
"""The formats in which clusters keep trees themselves."""
FORMAT_CHANGES = gettext_noop(
    "The current tree came from a %(before)s document, but this document is %(after)s. The clusters’ "
    "configuration would no longer be compared with the tree; to accept this, set change_format."
)


class Document(Protocol):
    """A document that a tree came from."""

    @property
    def format(self) -> str: ...


def format_changes(hierarchy: Hierarchy | None, before: Document, after: Document) -> bool:
    """Whether clusters use a tree whose copies would be looked for in another format from then on."""
    changes = before.format in COMPARED and after.format != before.format
    return changes and hierarchy is not None and hierarchy.clusters.exists()


class Consumers(NamedTuple):
    """Who reads the trees of a hierarchy."""

    documents: tuple[str, ...] = ()
    """The documents of YuniKorn's in clusters, into which a tree is to be written."""

    def form(self, kept: str) -> str:
        """The format by which lint judges a tree that came from format ``kept``: YuniKorn's where that reads it."""
        return Format.YUNIKORN if self.documents else kept


def not_written(imported: Imported, consumers: Consumers) -> tuple[Note, ...]:
    """What a document of YuniKorn's says beside the tree, other than the first copy in a cluster that differs in it."""
    if imported.form != Format.YUNIKORN:
        return ()
    return next(filter(None, (_not_written(imported, text) for text in consumers.documents)), ())


def _not_written(imported: Imported, copy: str) -> tuple[Note, ...]:
    try:
        return unwritten(imported, registry.read(copy, Format.YUNIKORN))
    except ImportFailure:  # its page says so
        return ()


def consumers_of(hierarchy: Hierarchy | None) -> Consumers:
    """Ask who reads the trees of a hierarchy; nobody those of none."""
    if hierarchy is None:
        return Consumers()
    found: list[tuple[str, str]] = []
    for _receiver, answer in consulting.send(Hierarchy, hierarchy=hierarchy):
        found += cast("list[tuple[str, str]]", answer)
    return Consumers(tuple(text for form, text in found if form == Format.YUNIKORN))


def tree_errors(tree: QueueTree, consumers: Consumers, *, kept: str, policy: str, dialect: str) -> tuple[Note, ...]:
    """Return every reason for which a tree, that came from a document of format ``kept``, is not published."""
    found = errors(tree, lint_rules(policy, dialect), form=consumers.form(kept))
    return (*found, *(note for document in consumers.documents for note in limit_errors(tree, document)))
