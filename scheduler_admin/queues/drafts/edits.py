"""Writes to drafts. Every act counts the draft's version up; none overwrites what somebody else typed meanwhile."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from engine.formats.tree_json.document import write_queue
from engine.model.notes import MOST_QUEUES
from engine.model.queue_settings import Kind
from engine.model.queue_tree import ROOT, QueueTree, is_queue_name
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import scope_of
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.queues.drafts.paths import LONGEST_LIST, remember_path
from scheduler_admin.queues.drafts.rows import placed_rows, rows_of
from scheduler_admin.queues.drafts.storage import ConflictError, changed, create_queues, locked
from scheduler_admin.queues.drafts.texts import OWN, TEMPLATE, setting_named, typed
from scheduler_admin.queues.drafts.tree_document import (
    assign,
    pin,
    queues_of,
    reading,
    terms_in,
    terms_of_base,
    text_of,
)
from scheduler_admin.queues.models import Draft, DraftQueue, Hierarchy, Revision
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.selectors.differences import differing_terms, differing_tree
from scheduler_admin.queues.services.hierarchies import Native, OutdatedError, Terms, publish, terms_of, tree_of
from scheduler_admin.queues.subtrees import CLAIMED, GIVEN, NOT_THEIRS, beside, outside

LONGEST_TEXT = 100
"""Of a setting that holds no names, in characters."""
LONGEST_NAME = 317
"""Of a resource, in characters: a domain, a slash and a name, as Kubernetes allows."""


class Cell(NamedTuple):
    """What was typed for one setting of a queue (its key), and what was seen there."""

    row: int
    setting: str
    text: str
    was: str


class StaleError(Exception):
    """The draft is no longer the one that was read."""


@transaction.atomic
def start(*, hierarchy: Hierarchy, name: str, author: User, base: Revision | None = None) -> Draft:
    """A draft of a revision, else of the one in force.

    Raises ValidationError where there is none, or for a missing name.
    """
    hierarchy = Hierarchy.objects.select_related("current").get(pk=hierarchy.pk)
    base = base or hierarchy.current
    if base is None:
        raise ValidationError(_("There is no revision to edit yet. Import a queue tree first."))
    who = author.get_username()
    draft = Draft(
        hierarchy=hierarchy,
        base=base,
        name=name.strip(),
        author=author,
        author_name=who,
        changed_by=who,
        **terms_of_base(base),
    )
    draft.full_clean()
    draft.save()
    tree = tree_of(base)
    rows: dict[str, DraftQueue] = {}
    for path in tree.walk():
        queue = tree[path]
        parent = rows[queue.parent] if queue.parent else None
        rows[path] = DraftQueue(
            draft=draft, parent=parent, name=queue.name, origin=path, settings=typed(write_queue(queue))
        )
    create_queues(list(rows.values()))
    pin(draft, rows.values())
    draft.save(update_fields=["capacity"])
    record(actor=author, verb="draft.start", target=str(draft), details={"base": str(draft.base)})
    return draft


@transaction.atomic
def name_draft(*, draft: Draft, name: str, actor: User) -> Draft:
    """Give a draft another name. Raises ValidationError for a missing or too long one."""
    draft = locked(draft)
    draft.name = name.strip()
    draft.full_clean()
    draft.save(update_fields=["name"])
    record(actor=actor, verb="draft.name", target=str(draft), details={"base": str(draft.base)})
    return draft


@transaction.atomic
def edit(*, draft: Draft, row: int, setting: str, text: str, was: str, actor: User) -> Draft:
    """Set one setting (``max/cpu``, ``delay``) of a queue to what was typed, also when it can't be read.

    ``was`` is what the person saw there: raises ConflictError when it says something else by now, ValidationError for
    a setting that queues do not have or the actor may not change, DraftQueue.DoesNotExist for a queue that is gone.
    """
    return edit_cells(draft=draft, cells=[Cell(row, setting, text, was)], actor=actor)


@transaction.atomic
def edit_cells(*, draft: Draft, cells: Sequence[Cell], actor: User) -> Draft:
    """Set many settings at once, as one act: all of them, or none. Raises as ``edit``."""
    draft = locked(draft)
    queues = _all_theirs(draft, {cell.row for cell in cells}, actor)
    differing = [queue for cell in cells if _assigned(draft, queue := queues[cell.row], cell, actor)]
    return changed(draft, actor, *{queue.pk: queue for queue in differing}.values()) if differing else draft


def _assigned(draft: Draft, queue: DraftQueue, cell: Cell, actor: User) -> bool:
    """Set one setting of a queue that is not stored yet. Whether it says anything else than it did."""
    setting, text = cell.setting, cell.text.strip()
    _check_setting(setting, text)
    if (found := setting_named(setting)) and found.kind is Kind.NAMES and not scope_of(actor, "edit").everything:
        raise ValidationError(_(CLAIMED if setting == "namespaces" else NOT_THEIRS))
    now = text_of(queue, setting)
    if now == text:
        return False
    if now != cell.was.strip():
        raise ConflictError(now, draft, queue, setting)
    assign(queue, setting, text)
    return True


@transaction.atomic
def add(*, draft: Draft, parent: int, name: str, actor: User) -> tuple[Draft, DraftQueue]:
    """A new queue below another. Raises ValidationError, and DraftQueue.DoesNotExist when the parent is gone."""
    draft = locked(draft)
    if draft.queues.count() >= MOST_QUEUES:
        raise ValidationError(_("There are more than %(most)s queues.") % {"most": MOST_QUEUES})
    queue = DraftQueue(draft=draft, parent=theirs(draft, parent, actor, below=True))
    _set_name(draft, queue, name)
    return changed(draft, actor, queue), queue


@transaction.atomic
def rename(*, draft: Draft, row: int, name: str, was: str, actor: User) -> Draft:
    """Give a queue another name. ``was`` is the name that was seen. Raises as ``edit``, and for a name not allowed."""
    draft = locked(draft)
    queue = theirs(draft, row, actor)
    if queue.name == name.strip():
        return draft
    if queue.name != was:
        raise ConflictError(queue.name, draft, queue)
    _set_name(draft, queue, name)
    return changed(draft, actor, queue, *remember_path(draft, queue))


@transaction.atomic
def move(*, draft: Draft, row: int, parent: int, was: int, actor: User) -> Draft:
    """Put a queue, with all below it, under another parent. ``was`` is the parent that was seen (pk)."""
    draft = locked(draft)
    queue, target = theirs(draft, row, actor), theirs(draft, parent, actor, below=True)
    if queue.parent_id == target.pk:
        return draft
    if queue.parent_id != was:
        raise ConflictError(queue.parent.name if queue.parent else "", draft, queue)
    if is_below(draft, target, queue):
        raise ValidationError(_("A queue can't be moved below itself."))
    queue.parent = target
    _set_name(draft, queue, queue.name)
    return changed(draft, actor, queue, *remember_path(draft, queue))


@transaction.atomic
def delete(*, draft: Draft, row: int, version: int, actor: User) -> Draft:
    """Take a queue away with all below it. Raises ConflictError if any of them changed since ``version`` was read."""
    draft = locked(draft)
    queue = theirs(draft, row, actor)
    if queue.parent_id is None:
        raise ValidationError(_("The root queue can't be deleted."))
    below = subtree(draft, queue)
    for one in below:
        if one.changed_in > version:
            raise ConflictError(one.name, draft, one)
    return changed(draft, actor, gone=below)


@transaction.atomic
def publish_draft(*, draft: Draft, version: int, reason: str, actor: User, allow_orphans: bool = False) -> Revision:
    """Publish a draft as it was read in ``version``, and end it.

    Raises StaleError when it was changed since, OutdatedError when another revision is in force than its base,
    OrphansError as ``publish`` does, ValidationError when there is anything wrong in it, nothing changed, conflicts
    left, no reason, or a change outside of what the actor may change.
    """
    draft = locked(draft)
    if draft.version != version:
        raise StaleError
    if draft.outdated:
        raise OutdatedError(draft.hierarchy.current)
    if draft.conflicts:
        raise ValidationError(_("Resolve the conflicts first."))
    found = _sound(draft, actor)
    revision = publish(
        hierarchy=draft.hierarchy,
        tree=found.tree,
        author=actor,
        reason=reason.strip(),
        terms=found.terms,
        native=Native(draft.source_format, draft.source) if draft.source_format else None,
        onto=draft.base_id,
        seconded=draft.approved_beside(actor),
        allow_orphans=allow_orphans,
    )
    if revision.pk == draft.base_id:
        raise ValidationError(_("This draft has no changes yet."))
    draft.delete()
    return revision


class _Sound(NamedTuple):
    tree: QueueTree
    terms: Terms


def _sound(draft: Draft, actor: User) -> _Sound:
    """What a draft says. Raises ValidationError for errors, and a change outside of what the actor may change."""
    queues, sees = queues_of(draft), scope_of(actor, "view")
    found = reading(draft, queues)
    if found.failed or found.tree is None:
        paths = [note.path if note.index is None else queues[note.index].path for note in found.notes]
        seen = [said(note) for note, path in zip(found.notes, paths, strict=True) if sees.has_path(path)]
        raise ValidationError(seen or _("Draft %(name)s has errors. Fix them first.") % {"name": draft.name})
    terms, base, scope = terms_in(found), tree_of(draft.base), scope_of(actor, "edit")
    differing = (*differing_terms(terms_of(draft.base), terms), *differing_tree(base, found.tree))
    if foreign := [*outside(base, found.tree, scope), *beside(differing, scope)]:
        raise ValidationError([f"{note.path}: {said(note)}" if note.path else said(note) for note in foreign])
    return _Sound(found.tree, terms)


@transaction.atomic
def approve(*, draft: Draft, version: int, actor: User) -> Draft:
    """Say that a draft may be published as it was read in ``version``; whatever changes in it takes that back.

    Raises StaleError when it was changed since, Draft.DoesNotExist where it is gone, ValidationError for errors in it,
    and for a change outside of what the actor may change: of that they are no judge, and may not even see it.
    """
    draft = locked(draft)
    if draft.version != version:
        raise StaleError
    _sound(draft, actor)
    pin(draft, draft.queues.all())  # what was typed before the cluster was read is of what it holds now, and stays so
    draft.approved_version, draft.approved_by, draft.approved_name = version, actor, actor.get_username()
    draft.save(update_fields=["capacity", "approved_version", "approved_by", "approved_name"])
    record(actor=actor, verb="draft.approve", target=str(draft), details={"version": version})
    return draft


@transaction.atomic
def discard(*, draft: Draft, actor: User) -> None:
    """Throw a draft away. Raises Draft.DoesNotExist where somebody did so, or published it, meanwhile."""
    draft = locked(draft)
    record(actor=actor, verb="draft.discard", target=str(draft), details={"base": str(draft.base)})
    draft.delete()


def theirs(draft: Draft, row: int, actor: User, *, below: bool = False) -> DraftQueue:
    """A queue that the actor may change, or may change what is ``below``.

    Raises DraftQueue.DoesNotExist for one that is gone, or outside of their subtrees, and ValidationError for the top
    of a subtree.
    """
    return _all_theirs(draft, {row}, actor, below=below)[row]


def _all_theirs(draft: Draft, rows: Collection[int], actor: User, *, below: bool = False) -> dict[int, DraftQueue]:
    queues, scope = draft.queues.in_bulk(list(rows)), scope_of(actor, "edit")
    if len(queues) < len(rows):
        raise DraftQueue.DoesNotExist
    if scope.everything:
        return queues
    for path in [one.path for one in placed_rows(draft) if one.pk in queues]:
        if not scope.has_path(path):
            raise DraftQueue.DoesNotExist
        if not below and not scope.may_change(path):
            raise ValidationError(f"{path}: {_(GIVEN)}")
    return queues


def _check_setting(name: str, text: str) -> None:
    setting = setting_named(name)
    if setting is None and name != OWN:
        raise ValidationError(_("There is no setting %(name)s.") % {"name": name})
    most = LONGEST_LIST if setting and setting.kind is Kind.NAMES else LONGEST_TEXT
    resource = name.removeprefix(TEMPLATE).partition("/")[2]
    for given, longest in ((resource, LONGEST_NAME), (text, most)):
        if len(given) > longest:
            raise ValidationError(_("Enter at most %(most)s characters.") % {"most": longest})


def _set_name(draft: Draft, queue: DraftQueue, name: str) -> None:
    """Name a queue where it stands. Raises ValidationError for a name that is not allowed or taken there."""
    name = name.strip()
    if not is_queue_name(name):
        message = _("%(name)s is not a valid queue name. Use at most 64 letters, digits and the characters _:#/@-.")
        raise ValidationError(message % {"name": repr(name)})
    if queue.parent is None:
        raise ValidationError(_("The root queue is always named root."))
    if name.lower() == ROOT:
        raise ValidationError(_("Only the top-level queue can be named root."))
    others = draft.queues.filter(parent=queue.parent, name__iexact=name).exclude(pk=queue.pk)
    if others.exists():
        raise ValidationError(_("Queue %(name)s is defined twice.") % {"name": name})
    queue.name = name


def is_below(draft: Draft, queue: DraftQueue, top: DraftQueue) -> bool:
    """Whether a queue is ``top`` or lies below it."""
    rows = rows_of(draft)
    at: int | None = queue.pk
    while at is not None and at != top.pk:
        at = rows[at].parent_id
    return at is not None


def subtree(draft: Draft, top: DraftQueue) -> list[DraftQueue]:
    """The queue and all below it, to be looked at and never changed."""
    found = placed_rows(draft)
    path = next(one.path for one in found if one.pk == top.pk)
    return [one.row for one in found if f"{one.path}.".startswith(f"{path}.")]
