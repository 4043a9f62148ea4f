"""Reads of drafts: the tree with what is wrong and what is new in it, and who else has a draft open."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import msgspec
from django.db import transaction
from django.http import Http404

from engine.formats.tree_json.diff import ChangeKind, QueueChange, Setting, changes
from engine.formats.tree_json.document import TreeDocument
from engine.model.notes import Note
from engine.model.queue_settings import BY_NAME
from engine.model.queue_tree import Queue, QueueTree
from engine.policies import lint_rules
from engine.tree.lint import remarks
from engine.tree.lint.room import ClusterRoom
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import EVERYTHING, Action, Scope, Who, scope_of
from scheduler_admin.core.entity_tags import keyed
from scheduler_admin.queues.drafts.kept import kept_of
from scheduler_admin.queues.drafts.rows import placed_rows
from scheduler_admin.queues.drafts.texts import OWN, TEMPLATE
from scheduler_admin.queues.drafts.tree_document import Placed, moved, placed, reading, terms_in, text_of
from scheduler_admin.queues.drafts.unstarted import is_unstarted, unstarted
from scheduler_admin.queues.models import Draft, DraftQuerySet, DraftQueue, Hierarchy, Revision
from scheduler_admin.queues.selectors.differences import differing_terms, differing_tree
from scheduler_admin.queues.services.consumers import Consumers, consumers_of, tree_errors
from scheduler_admin.queues.services.hierarchies import Terms, native_of, not_enforceable, terms_of, tree_of
from scheduler_admin.queues.subtrees import beside, outside

READ_TOGETHER = 20_000
"""With so many queues of drafts, those of further drafts are read on their own."""


class DraftRow(msgspec.Struct, frozen=True, gc=False):
    """A queue of a draft as the editor shows it."""

    placed: Placed
    leaf: bool
    errors: tuple[Note, ...]
    change: QueueChange | None
    queue: Queue | None = None
    """As it was read, without the settings that can't be; None where the queues form no tree."""

    @property
    def path(self) -> str:
        """Its path in the draft."""
        return self.placed.path

    @property
    def added(self) -> bool:
        """Whether the base does not have it."""
        return self.change is not None and self.change.kind is ChangeKind.ADDED

    def setting(self, field: str, resource: str = "") -> Setting | None:
        """How a setting differs from the base; None: not, or the whole queue is new."""
        if self.change is None or self.added:
            return None
        same = (one for one in self.change.settings if (one.field, one.resource) == (field, resource))
        return next(same, None)


@dataclass(frozen=True)
class DraftState:
    """A draft at one version with everything that there is to say about it, but the forecast."""

    draft: Draft
    rows: tuple[DraftRow, ...]
    tree: QueueTree | None
    """What it says, without the settings that can't be read; None when the queues form no tree."""
    errors: tuple[Note, ...]
    """What keeps it from being published. A note's ``index`` is the place in ``rows`` where it comes from reading."""
    changes: tuple[QueueChange, ...]
    terms: Terms
    """By which policy it is to be enforced, without the parameters that can't be read."""
    beside: tuple[Setting, ...] = ()
    """What it changes beside its queues: of the terms, and of the rules by which pods find their leaf."""
    remarks: Callable[[], tuple[Note, ...]] = tuple
    """Warnings, and what holds. They take longest to find, so that is only done once somebody asks."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Errors, warnings, what holds."""
        return (*self.errors, *self.remarks())

    @property
    def differs(self) -> bool:
        """Whether there is anything to publish."""
        return bool(self.changes or self.beside)

    @property
    def publishable(self) -> bool:
        """Whether it may be published as it is."""
        return not self.errors and not self.draft.conflicts and not self.draft.outdated and self.differs

    def part(self, scope: Scope) -> "DraftState":
        """What of it lies inside a scope."""
        if scope.everything:
            return self
        places = [index for index, row in enumerate(self.rows) if scope.has_path(row.path)]
        at = {index: place for place, index in enumerate(places)}
        rows = tuple(self.rows[index] for index in places)
        found = tuple(change for change in self.changes if scope.has_path(change.path))

        def inside(notes: Iterable[Note]) -> tuple[Note, ...]:
            return tuple(
                note if note.index is None else msgspec.structs.replace(note, index=at[note.index])
                for note in notes
                if (scope.has_path(note.path) if note.index is None else note.index in at)
            )

        return replace(
            self,
            rows=rows,
            errors=inside(self.errors),
            changes=found,
            beside=(),
            remarks=lambda: inside(self.remarks()),
        )


@dataclass(frozen=True)
class Steps:
    """Whether a person has an act in a draft to undo, and one to redo."""

    undo: bool
    redo: bool


def steps(user: Who, draft: Draft) -> Steps:
    """Of one's own acts alone."""
    found = set(draft.acts.filter(actor=user.pk).order_by().values_list("undone", flat=True).distinct())
    return Steps(undo=False in found, redo=True in found)


def find(user: Who, hierarchy: Hierarchy | None, pk: int, action: Action = "view", *, whole: bool = True) -> Draft:
    """One draft of a hierarchy; ``whole``: with all that it refers to. Raises Http404 for a stranger.

    A negative key is that of a draft on a revision that nobody changed yet.
    """
    if pk < 0:
        return _unstarted(user, hierarchy, -pk)
    rows = Draft.objects.restrict(user, action)
    rows = rows.select_related("hierarchy__current", "base", "author") if whole else rows
    draft = rows.filter(hierarchy=hierarchy, pk=pk).first()
    if draft is None:
        raise Http404
    return draft


def _unstarted(user: Who, hierarchy: Hierarchy | None, number: int) -> Draft:
    base = Revision.objects.select_related("hierarchy__current").filter(hierarchy=hierarchy, number=number).first()
    if base is None or not isinstance(user, User):
        raise Http404
    return unstarted(base, user)


def drafts_of(user: Who, hierarchy: Hierarchy | None) -> DraftQuerySet:
    """The drafts of a hierarchy, the one changed last first."""
    rows = Draft.objects.restrict(user, "view").filter(hierarchy=hierarchy)
    return rows.select_related("hierarchy__current", "base", "author")


def rivals_of(user: Who, draft: Draft) -> DraftQuerySet:
    """The other drafts of its hierarchy in which anything was done, likewise."""
    return drafts_of(user, draft.hierarchy).filter(version__gt=1).exclude(pk=draft.pk)


def tag(draft: Draft) -> str:
    """Differs whenever what is told of a draft would: its version, what is in force, who approved it, its name."""
    name = keyed(draft.name)[:8]
    return f'"{draft.version}.{draft.hierarchy.current_id}.{draft.approved_version or 0}.{name}"'


def may_edit(user: Who, draft: Draft) -> bool:
    """Whether a draft is the user's to change."""
    if is_unstarted(draft):
        scope = scope_of(user, "edit")
        return scope.everything or (bool(scope.subtrees) and _has_part_of(user, draft.hierarchy))
    return scope_of(user, "edit").everything or Draft.objects.restrict(user, "edit").filter(pk=draft.pk).exists()


def _has_part_of(user: Who, hierarchy: Hierarchy) -> bool:
    return Hierarchy.objects.restrict(user, "edit").filter(pk=hierarchy.pk).exists()


def state_for(user: Who, draft: Draft, room: ClusterRoom | None = None, *, editable: bool) -> DraftState:
    """What a user sees of a draft; where it is ``editable`` to them, what is not theirs to change is an error."""
    checked = scope_of(user, "edit") if editable else EVERYTHING
    return state(draft, room, checked).part(scope_of(user, "view"))


def states(drafts: Iterable[Draft], consumers: Consumers | None = None) -> Iterator[DraftState]:
    """Yield everything about each of some drafts of one hierarchy; lists of drafts say less: see summaries.

    ``consumers``: those of the hierarchy, where they are known already.
    """
    for some in _portions(drafts):
        rows: dict[int, list[DraftQueue]] = {draft.pk: [] for draft in some}
        for row in DraftQueue.objects.filter(draft__in=some):
            rows[row.draft_id].append(row)
        for draft in some:
            consumers = consumers_of(draft.hierarchy) if consumers is None else consumers
            queues = placed(rows.pop(draft.pk))
            yield _worked_out(draft, queues, None, EVERYTHING, unenforceable(draft), consumers)


def _portions(drafts: Iterable[Draft]) -> Iterator[list[Draft]]:
    """Yield drafts whose queues are read together: all of them, but for trees that are very large."""
    some, queues = list[Draft](), 0
    for draft in drafts:
        some.append(draft)
        queues += len(tree_of(draft.base).queues)
        if queues > READ_TOGETHER:
            yield some
            some, queues = [], 0
    if some:
        yield some


def unenforceable(draft: Draft) -> Note | None:
    """What keeps a cluster that is enforced from being so by a draft's terms."""
    return not_enforceable(draft.hierarchy, Terms(draft.policy, draft.dialect, {}))


def state(draft: Draft, room: ClusterRoom | None = None, scope: Scope = EVERYTHING) -> DraftState:
    """Everything about a draft as it is now; what it changes outside of a scope is an error. ``room``: see lint."""
    unfit, consumers = unenforceable(draft), consumers_of(draft.hierarchy)
    kept, now = kept_of(draft).states, (tag(draft), draft.base_id, room, unfit, consumers)
    then, held, found = kept.get(scope, (None, None, None))
    if found is None or then != now or (held is not None and held != draft.hierarchy.capacity):
        queues = placed_rows(draft)
        held = draft.hierarchy.capacity if any(one.has_shares for one in queues) else None
        found = _worked_out(draft, queues, room, scope, unfit, consumers)
        transaction.on_commit(partial(kept.__setitem__, scope, (now, held, found)))  # what is taken back never was
    return replace(found, draft=draft)


def _worked_out(
    draft: Draft,
    queues: Sequence[Placed],
    room: ClusterRoom | None,
    scope: Scope,
    unfit: Note | None,
    consumers: Consumers,
) -> DraftState:
    base = tree_of(draft.base)
    read = reading(draft, queues)
    terms, kept = terms_in(read), native_of(draft.base).format
    wrong = read.notes if unfit is None else (unfit, *read.notes)
    others = differing_terms(terms_of(draft.base), terms)
    found: tuple[QueueChange, ...] = ()
    if read.tree is not None:
        others += differing_tree(base, read.tree)
        foreign = (*outside(base, read.tree, scope), *beside(others, scope))
        found_by_lint = tree_errors(read.tree, consumers, kept=kept, policy=terms.policy, dialect=terms.dialect)
        wrong = (*wrong, *found_by_lint, *foreign)
        row_at = {one.path: one.row for one in queues}
        differing = changes(base, read.tree, moved(queues))
        found = tuple(_as_typed(one, row_at.get(one.path)) for one in differing)
    by_path = {one.path: one for one in found if one.kind is not ChangeKind.REMOVED}
    parents = {one.above for one in queues}
    by_place: dict[Any, list[Note]] = {}
    for note in wrong:
        by_place.setdefault(note.path if note.index is None else note.index, []).append(note)
    rows = tuple(
        DraftRow(
            placed=one,
            leaf=one.pk not in parents and text_of(one.row, BY_NAME["parent"].typed_as) != "true",
            errors=(*by_place.get(index, ()), *by_place.get(one.path, ())),
            change=by_path.get(one.path),
            queue=read.tree.queues.get(one.path) if read.tree else None,
        )
        for index, one in enumerate(queues)
    )
    told = cache(partial(_remarks, read, room, terms, consumers.form(kept)))
    return DraftState(draft, rows, read.tree, wrong, found, terms, others, told)


def _remarks(read: TreeDocument, room: ClusterRoom | None, terms: Terms, form: str) -> tuple[Note, ...]:
    """What lint remarks that is so whatever the settings that can't be read are to say.

    That is what is about queues without such a setting, also above and below them.
    """
    tree = read.tree
    if tree is None:
        return ()
    unread = {note.path for note in read.notes if note.path}
    above = {path for one in unread for path in tree.lineage(one)}
    found = remarks(tree, lint_rules(terms.policy, terms.dialect), room, form=form)
    return tuple(note for note in found if note.path not in above and unread.isdisjoint(tree.lineage(note.path)))


def _as_typed(change: QueueChange, row: DraftQueue | None) -> QueueChange:
    """What can't be read is missing in the tree, but was not taken away: it says what was typed."""
    if row is None or change.kind is ChangeKind.REMOVED:
        return change
    return msgspec.structs.replace(change, settings=tuple(_setting_as_typed(one, row) for one in change.settings))


def _setting_as_typed(one: Setting, row: DraftQueue) -> Setting:
    if one.field == "template" and not one.resource:  # of which nothing else can be read
        texts = {name.removeprefix(TEMPLATE): text for name, text in row.settings.items() if name.startswith(TEMPLATE)}
        own = OWN.removeprefix(TEMPLATE)
        typed = ", ".join(f"{name} {text}".replace("/", " ", 1) for name, text in texts.items() if name != own)
        return msgspec.structs.replace(one, after=typed or one.after)
    if one.after:
        return one
    name = one.resource.replace(" ", "/", 1) if one.field == "template" else one.resource
    field = BY_NAME[one.field].typed_as if one.field in BY_NAME else one.field
    return msgspec.structs.replace(one, after=text_of(row, f"{field}/{name}" if name else field))
