"""What the pages of revisions show, put together from the selectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.http import QueryDict

from engine.explain import Message
from engine.formats.tree_json.diff import ChangeKind, QueueChange
from engine.model.queue_tree import PreemptionPolicy, QueueTree
from scheduler_admin.accounts.scopes import Scope, Who, scope_of
from scheduler_admin.core.paging import Paged, numbered
from scheduler_admin.queues.drafts.selectors import DraftRow
from scheduler_admin.queues.drafts.tree_document import placed_in_base, rows_of_base
from scheduler_admin.queues.models import Draft, Hierarchy, Revision
from scheduler_admin.queues.pages.editor import parts
from scheduler_admin.queues.pages.editor.address import Shown
from scheduler_admin.queues.pages.editor.folds import folds
from scheduler_admin.queues.pages.editor.grid import Row, grid, resources_of
from scheduler_admin.queues.presenters.changes import Lines, changed
from scheduler_admin.queues.presenters.placement import ToldRule, ToldTemplate, rules, templates
from scheduler_admin.queues.selectors import revisions as selectors
from scheduler_admin.queues.selectors.tree_filters import fence_marks
from scheduler_admin.queues.services.hierarchies import tree_of
from scheduler_admin.queues.services.restore import restorable


@dataclass(frozen=True)
class RevisionLine:
    """A line of the list. ``changes``: of how many queues, against the one before."""

    revision: Revision
    changes: int
    in_force: bool


@dataclass(frozen=True)
class RevisionView:
    """One revision held against another."""

    revision: Revision
    against: Revision | None
    numbers: Sequence[int]
    changes: Lines[Message]
    count: int
    rules: Sequence[ToldRule]
    templates: Sequence[ToldTemplate]
    names: Sequence[str]
    rows: Sequence[Row]
    paged: Paged | None
    """Where the rows stand among all, where those are too many for one page."""
    restorable: frozenset[str]
    """Paths of queues that the reader may put back."""
    back: Lines[Message] | None
    """What rolling back to it would change; None for the one in force, and for those who may not."""


def revision_lines(hierarchy: Hierarchy, page: selectors.RevisionPage, last: Revision | None) -> list[RevisionLine]:
    """The list; ``last`` is the one before the last of the page."""
    return [
        RevisionLine(after, selectors.count_changes(before, after), after.pk == hierarchy.current_id)
        for after, before in pairwise([*page.revisions, last])
        if after is not None
    ]


def revision_view(user: Who, revision: Revision, against: Revision | None, query: QueryDict) -> RevisionView:
    """One revision, what it changed against another, and what going back to it would change.

    ``query``: the page's, which says where in a long table it is.
    """
    found, current = selectors.difference(against, revision), revision.hierarchy.current
    paths = tree_of(revision).walk()
    part, paged = numbered(paths, query) if len(paths) > parts.MOST else (paths, None)
    may_roll_back = scope_of(user, "edit").everything and current is not None and current.pk != revision.pk
    return RevisionView(
        revision=revision,
        against=against,
        numbers=[number for number in selectors.numbers(user, revision.hierarchy) if number != revision.number],
        changes=changed(found, selectors.beside(against, revision)),
        count=len(found),
        rules=rules(tree_of(revision)),
        templates=templates(tree_of(revision)),
        names=resources_of(tree_of(revision)),
        rows=_table(revision, part, found if against else ()),  # of the first, every queue would be marked as new
        paged=paged,
        restorable=restorable(revision, scope_of(user, "edit")),
        back=_back(current, revision) if may_roll_back else None,
    )


def _back(current: Revision | None, revision: Revision) -> Lines[Message]:
    return changed(selectors.difference(current, revision), selectors.beside(current, revision))


def _table(revision: Revision, paths: Sequence[str], found: Sequence[QueueChange]) -> list[Row]:
    """Queues as in a draft's grid that nobody edits: with the same marks of what is new and what it said before."""
    tree, draft = tree_of(revision), Draft(pk=-revision.number, hierarchy=revision.hierarchy, base=revision)
    by_path = {one.path: one for one in found if one.kind is not ChangeKind.REMOVED}
    every = folds([(path, tree.parents[path]) for path in tree.walk()])
    rows = [
        DraftRow(placed_in_base(row), tree.is_leaf(row.origin), (), by_path.get(row.origin))
        for row in rows_of_base(draft, paths)
    ]
    marks = tree.once("marks of fences", lambda: _marks(tree))
    return grid(rows, [every[tree.turn[path]] for path in paths], marks, resources_of(tree), Shown(), Scope())


def _marks(tree: QueueTree) -> dict[str, str]:
    """Those that there are, by path."""
    fences = [
        path
        for path in tree.walk()
        if tree.parents[path] is not None and tree[path].preemption_policy is PreemptionPolicy.FENCE
    ]
    return fence_marks(tree.walk(), fences)
