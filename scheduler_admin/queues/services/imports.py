"""Trees that come in a document of another system, or of our own: as a draft, or put in force at once."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from engine.formats import registry
from engine.formats.import_result import Imported
from engine.formats.registry import Format
from engine.formats.tree_json.document import write_queue
from engine.formats.tree_json.percentages import PercentageBase
from engine.formats.tree_json.placement import write_rules
from engine.formats.tree_json.policy_terms import write_parameters
from engine.model.notes import Note
from engine.model.quantities import format_amounts
from engine.model.queue_tree import QueueTree
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.queues.drafts.edits import start
from scheduler_admin.queues.drafts.storage import locked, store
from scheduler_admin.queues.drafts.texts import typed
from scheduler_admin.queues.drafts.tree_document import queues_of
from scheduler_admin.queues.models import Draft, DraftQueue, Hierarchy, Revision
from scheduler_admin.queues.services.consumers import FORMAT_CHANGES, consumers_of, format_changes, not_written
from scheduler_admin.queues.services.hierarchies import (
    Native,
    Terms,
    default_terms,
    native_of,
    publish,
    publish_as,
    terms_of,
)


@transaction.atomic
def import_tree(
    *,
    hierarchy: str,
    text: str,
    author: User | None,
    reason: str,
    form: Format | None = None,
    allow_orphans: bool = False,
    change_format: bool = True,
) -> tuple[Revision, tuple[Note, ...]]:
    """Publish a document as the next revision of a hierarchy, made when there is none of that name.

    Its format is ``form``, else what its words tell; without ``change_format`` it is that of the tree in force, where
    clusters use that. Returns the revision and what the import has to say. Raises
    ImportFailure, ValidationError for a bad name, and OrphansError as ``publish`` does.
    """
    found = Hierarchy.objects.filter(name=hierarchy).select_related("current").first()
    imported = registry.read(text, form, found.capacity if found else PercentageBase())
    kept = Native(imported.form, text)
    current = found.current if found else None
    if not change_format and current and format_changes(found, native_of(current), kept):
        told = {"before": native_of(current).format, "after": kept.format}
        raise ValidationError(_(FORMAT_CHANGES) % told)
    terms = terms_with(imported.terms, found.current if found else None, imported.form)
    revision = publish_as(
        name=hierarchy,
        tree=imported.tree,
        author=author,
        reason=reason,
        native=kept,
        terms=terms,
        allow_orphans=allow_orphans,
    )
    return revision, (*imported.notes, *not_written(imported, consumers_of(found)))


@transaction.atomic
def import_draft(*, hierarchy: Hierarchy, imported: Imported, text: str, name: str, author: User) -> Draft:
    """A draft on the revision in force that says what a document does, and takes its ``text`` along, if it has one.

    Raises PermissionDenied for who may change only a part of the tree, ValidationError where nothing is in force yet.
    """
    if not scope_of(author, "edit").everything:
        raise PermissionDenied
    draft = locked(start(hierarchy=hierarchy, name=name, author=author))
    draft.placement = write_rules(imported.tree.placement)
    draft.capacity = format_amounts(imported.tree.capacity)
    _say_terms(draft, imported.terms)
    if text:
        draft.source_format, draft.source = imported.form, text
    rows = {one.path: one.row for one in queues_of(draft)}
    gone = [row for path, row in rows.items() if path not in imported.tree]
    store(draft, author, _rows(draft, imported.tree, rows), gone)
    record(actor=author, verb="draft.import", target=str(draft), details={"format": imported.form})
    return draft


def _say_terms(draft: Draft, terms: Mapping[str, Any]) -> None:
    """How it decides, where the document says so."""
    draft.policy = terms.get("policy", draft.policy)
    draft.dialect = terms.get("dialect", draft.dialect)
    if "parameters" in terms:
        draft.parameters = write_parameters(terms["parameters"])


def _rows(draft: Draft, tree: QueueTree, there: dict[str, DraftQueue]) -> list[DraftQueue]:
    """The rows of a tree, parents before children: those that are there with what it says, and new ones."""
    found: dict[str, DraftQueue] = {}
    for path in tree.walk():
        queue = tree[path]
        row = there.get(path) or DraftQueue(draft=draft, parent=found.get(queue.parent or ""), name=queue.name)
        row.settings = typed(write_queue(queue))
        found[path] = row
    return list(found.values())


def import_first(*, hierarchy: Hierarchy, imported: Imported, text: str, author: User, reason: str) -> Revision:
    """Publish a document as the first revision of a hierarchy.

    Raises PermissionDenied for who may change only a part of the tree, and as ``publish`` does.
    """
    if not scope_of(author, "edit").everything:
        raise PermissionDenied
    if not reason.strip():
        raise ValidationError({"reason": _("Enter a reason.")})
    kept = Native(imported.form, text)
    return publish(
        hierarchy=hierarchy,
        tree=imported.tree,
        author=author,
        reason=reason.strip(),
        native=kept,
        terms=terms_with(imported.terms, None, imported.form),
        onto=None,
    )


def terms_with(said: Mapping[str, Any], current: Revision | None, form: str) -> Terms:
    """How the tree of a document of a format would decide: as it says, else as what is in force does."""
    return (terms_of(current) if current else default_terms(form))._replace(**said)
