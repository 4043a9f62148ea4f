"""What the page of a draft shows, put together from the selectors: each part once it is asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from engine.explain import Message
from engine.model.notes import Note, Severity
from engine.model.quantities import PODS
from engine.model.queue_tree import QueueTree
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.scopes import Scope, Who, scope_of
from scheduler_admin.accounts.selectors import needs_second, site
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import present, status_of
from scheduler_admin.core.forms import Form
from scheduler_admin.core.words import names, queue_name
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.drafts.selectors import DraftState, Steps
from scheduler_admin.queues.drafts.tree_document import DRAFT, PLACEMENT, text_of
from scheduler_admin.queues.drafts.unstarted import is_unstarted
from scheduler_admin.queues.forms import DraftNameForm, NameForm, PublishForm
from scheduler_admin.queues.models import Draft
from scheduler_admin.queues.pages.editor import panels
from scheduler_admin.queues.pages.editor.address import Shown
from scheduler_admin.queues.pages.editor.folds import Fold, folds
from scheduler_admin.queues.pages.editor.grid import Row, columns, grid, marks_of, resource_names
from scheduler_admin.queues.pages.editor.inherited_cells import Inheritance
from scheduler_admin.queues.pages.editor.parts import drawn_places, undrawn
from scheduler_admin.queues.pages.editor.placement_rules import EditedRule, edited_rules
from scheduler_admin.queues.pages.editor.terms import Term, terms
from scheduler_admin.queues.presenters.changes import Lines, changed
from scheduler_admin.queues.presenters.placement import ToldRule, ToldTemplate, rules, templates
from scheduler_admin.queues.selectors.queues import tree_with
from scheduler_admin.queues.selectors.tree_filters import suggested
from scheduler_admin.queues.services.hierarchies import tree_of

SECOND_WANTED = gettext_noop("A second person must approve this version before you can publish it.")


@dataclass(frozen=True)
class Toll:
    """What deleting a queue takes along."""

    queues: int
    """Below it."""
    known: bool
    """Whether what runs there is: the tree in force, by which it was counted, may be another than the base."""
    pods: int
    asks: int


@dataclass(frozen=True)
class Second:
    """What a draft needs of a second person."""

    wanted: bool
    """Before its reader may publish it."""
    offered: bool
    """Whether its reader may approve it, and has not."""


@dataclass(frozen=True)
class DraftPage:
    """Everything that the page of a draft shows, but the forecast."""

    user: Who
    """Its reader."""
    cluster: Cluster
    state: DraftState
    shown: Shown
    may_edit: bool
    sees: Scope
    """What of the tree its reader sees."""
    changes_in: Scope
    """What of it they may change."""
    refused: Form | None = None
    """A form that was turned away."""

    @property
    def publish_form(self) -> PublishForm:
        """The form that puts it in force."""
        return self.refused if isinstance(self.refused, PublishForm) else PublishForm()

    @property
    def rename_form(self) -> DraftNameForm:
        """The form that gives it another name."""
        refused = self.refused if isinstance(self.refused, DraftNameForm) else None
        return refused or DraftNameForm(initial={"name": self.draft.name})

    @property
    def problem(self) -> str:
        """Why a form was turned away, unless that form shows it itself."""
        return "" if isinstance(self.refused, PublishForm | DraftNameForm | None) else self.refused.all_errors

    @property
    def name_form(self) -> NameForm:
        """The form of the row that is unfolded to name a queue."""
        refused = self.refused if isinstance(self.refused, NameForm) else None
        name = self.chosen.of.placed.row.name if self.chosen and self.shown.act == "rename" else ""
        form = refused or NameForm(initial={"name": name})
        if self.problem:
            form.fields["name"].widget.attrs["aria-describedby"] = "more-problem"
        return form

    @property
    def elsewhere(self) -> str:
        """Other clusters that it would come into force in."""
        others = Cluster.objects.restrict(self.user, "view").filter(hierarchy=self.draft.hierarchy)
        return names(list(others.exclude(pk=self.cluster.pk).values_list("name", flat=True)))

    @cached_property
    def steps(self) -> Steps:
        """What its reader may undo and redo."""
        return selectors.steps(self.user, self.draft)

    @cached_property
    def second(self) -> Second:
        """Who else has to look at it."""
        return _second(self.user, self.draft, may_edit=self.may_edit)

    @property
    def draft(self) -> Draft:
        """The draft."""
        return self.state.draft

    @property
    def unstarted(self) -> bool:
        """Whether nobody changed it yet: the first act stores it."""
        return is_unstarted(self.draft)

    @property
    def whole(self) -> bool:
        """Whether the reader sees all of the tree."""
        return self.sees.everything

    @property
    def tag(self) -> str:
        """Differs whenever the page would: the draft's version, and what is in force."""
        return selectors.tag(self.draft)

    @cached_property
    def names(self) -> list[str]:
        """The resources that have columns."""
        status = status_of(self.cluster)
        return resource_names(self.state, status.capacity if status else {}, self.shown.resources)

    @cached_property
    def drawn(self) -> list[Row]:
        """The rows that the page draws, of a large tree a part."""
        return self._grid(self._places)

    @cached_property
    def _places(self) -> list[int]:
        """The same by their places among all."""
        return drawn_places(self.state.rows, self.shown)

    @cached_property
    def _folds(self) -> list[Fold]:
        rows = self.state.rows
        errors = {row.placed.pk: len(row.errors) for row in rows if row.errors}
        return folds([(one.pk, one.above) for one in [row.placed for row in rows]], self.shown.folded, errors)

    @cached_property
    def undrawn(self) -> frozenset[int]:
        """The queues that are drawn, but nothing of what they hold."""
        return undrawn(self.drawn, whole=not self.in_parts)

    @property
    def in_parts(self) -> bool:
        """Whether the tree is too large to be drawn as a whole."""
        return len(self._places) < len(self.state.rows)

    @property
    def suggested(self) -> list[str]:
        """Paths of queues that a field suggests, to be looked for."""
        return suggested([row.placed.path for row in self.state.rows])

    @property
    def top(self) -> str:
        """The address of the page that draws the top of the tree."""
        return self.shown.within(0).closed

    def _grid(self, places: Sequence[int]) -> list[Row]:
        """Rows of the grid."""
        rows = [self.state.rows[place] for place in places]
        return grid(
            rows,
            [self._folds[place] for place in places],
            marks_of(self.state.rows),
            self.names,
            self.shown,
            self.changes_in,
            self.inheritance,
            whole=self.whole,
            pods=self._pods([row.placed.row.origin for row in rows]),
        )

    @cached_property
    def inheritance(self) -> Inheritance:
        """What its empty cells say."""
        drawn = [self.state.rows[place] for place in self._places]
        return Inheritance(self.state, [column.setting for column in columns(self.names)], drawn)

    @cached_property
    def chosen(self) -> Row | None:
        """The row that is unfolded."""
        return next((row for row in self.drawn if row.act), None)

    @property
    def terms(self) -> list[Term]:
        """How it decides; what the cluster holds is not a tenant's to know."""
        return [one for one in terms(self.state) if self.whole or not one.setting.startswith("capacity")]

    @property
    def decides(self) -> bool:
        """Whether the reader may change how it decides."""
        return self.may_edit and self.changes_in.everything

    @property
    def checks(self) -> Lines[panels.Check]:
        """See panels."""
        return panels.checks(self.state, columns(self.names), self.shown)

    @property
    def changes(self) -> Lines[Message]:
        """See panels."""
        return changed(self.state.changes, self.state.beside)

    @property
    def change_count(self) -> int:
        """How many queues, terms and rules differ from the base."""
        return len(self.state.changes) + len(self.state.beside)

    @property
    def conflicts(self) -> list[panels.Choice]:
        """See panels."""
        return [one for one in panels.choices(self.state) if self._sees(one.queue)]

    def _sees(self, path: str) -> bool:
        """Whether the reader sees a queue; what is beside all queues is seen by those who see everything."""
        return self.whole if path == DRAFT else self.sees.has_path(path)

    @property
    def obstacle(self) -> str:
        """See panels."""
        return panels.obstacles(self.state) or (_(SECOND_WANTED) if self.second.wanted else "")

    @property
    def warnings(self) -> int:
        """Number of kinds."""
        return sum(note.severity is Severity.WARNING for note in self.state.notes)

    @property
    def left_out(self) -> str:
        """The queues of which a forecast leaves out what can't be read."""
        return names(list(dict.fromkeys(queue_name(note.path) for note in self.state.errors if note.path)))

    @property
    def foretellable(self) -> bool:
        """Whether it is known by which policy, and under which tree: else nothing can be foretold."""
        unknown = any(note.field in {"policy", "dialect"} for note in self.state.errors)
        return self.state.tree is not None and not unknown

    @property
    def next_number(self) -> int:
        """The number that it will be published as."""
        current = self.draft.hierarchy.current
        return (current.number if current else 0) + 1

    @property
    def parents(self) -> list[Row]:
        """Where the chosen queue may be moved; in a large tree, of the queues that are drawn here or at its top."""
        if self.chosen is None:
            return []
        own = {row.placed.pk for row in panels.below(self.state.rows, self.chosen.of.placed.row)}
        offered = sorted({*self._places, *drawn_places(self.state.rows, Shown())})
        return [row for row in self._grid(offered) if row.pk not in own and self.changes_in.has_path(row.of.path)]

    @property
    def rules(self) -> list[ToldRule]:
        """Of placement; they may name anybody's queue."""
        return rules(self.state.tree or tree_of(self.draft.base)) if self.whole else []

    @property
    def edited_rules(self) -> list[EditedRule]:
        """The same as they were typed, to be changed."""
        return edited_rules(self.state)

    @property
    def placement_text(self) -> str:
        """All of them as the text that was seen."""
        return text_of(self.draft, PLACEMENT)

    @property
    def placement_wrong(self) -> bool:
        """Whether anything is wrong with them."""
        return any(note.field.startswith(PLACEMENT) for note in self.state.errors)

    @property
    def placement_errors(self) -> list[Note]:
        """What is wrong with the list as a whole."""
        return [note for note in self.state.errors if note.field == PLACEMENT]

    @property
    def tried(self) -> str:
        """The leaf of the pod that was asked for."""
        return self.shown.trial.leaf(self.state.tree) if self.state.tree else ""

    @property
    def templates(self) -> list[ToldTemplate]:
        """Likewise."""
        return templates(self.state.tree or tree_of(self.draft.base)) if self.whole else []

    def _pods(self, paths: Iterable[str]) -> dict[str, int]:
        """How many pods run in each of some queues of the tree in force."""
        status = status_of(self.cluster)
        known = status.queues if status else {}
        return {path: known[path]["used"].get(PODS, 0) for path in paths if path in known}

    @property
    def toll(self) -> Toll | None:
        """What deleting the chosen queue takes along, as far as the cluster was read."""
        if self.chosen is None:
            return None
        gone, status = panels.below(self.state.rows, self.chosen.of.placed.row), status_of(self.cluster)
        base, figures = tree_with(self.draft.base, present(self.cluster)), status.queues if status else {}
        origins = {row.placed.row.origin for row in gone}
        leaves = [leaf for leaf in base.leaves if _written(base, leaf) in origins]
        known = status is not None and all(path in figures for path in leaves)
        found = [figures[path] for path in leaves] if known else []
        pods = sum(one["used"].get(PODS, 0) for one in found)
        return Toll(len(gone) - 1, known, pods, sum(one["asks"] for one in found))


def _written(tree: QueueTree, leaf: str) -> str:
    """The queue itself, or the one that people wrote above a dynamic one."""
    return next(path for path in tree.lineage(leaf) if not tree[path].dynamic)


def _second(user: Who, draft: Draft, *, may_edit: bool) -> Second:
    settings = site()
    if not may_edit or not isinstance(user, User):
        return Second(wanted=False, offered=False)
    if not settings.second_for_editors and not settings.second_for_admins:
        return Second(wanted=False, offered=False)
    own = draft.approved and draft.approved_by_id == user.pk
    return Second(wanted=needs_second(user) and not draft.approved_beside(user), offered=not own)


def draft_page(user: Who, cluster: Cluster, draft: Draft, shown: Shown, refused: Form | None = None) -> DraftPage:
    """The page of a draft as it is now."""
    status = status_of(cluster)
    sees, changes_in = scope_of(user, "view"), scope_of(user, "edit")
    may_edit = selectors.may_edit(user, draft)
    changes_in = changes_in if may_edit else Scope()
    state = selectors.state_for(user, draft, status.room if status else None, editable=may_edit)
    return DraftPage(user, cluster, state, shown, may_edit, sees, changes_in, refused)
