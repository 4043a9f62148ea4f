"""The grid of a draft: every queue a row, every setting a field that is edited in place."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from types import MappingProxyType

import msgspec
from django.utils.translation import get_language

from engine.formats.tree_json.diff import ChangeKind
from engine.formats.tree_json.percentages import FIELDS, amounts_of, is_share, shares_of
from engine.model.notes import Note
from engine.model.quantities import format_amount
from engine.model.queue_settings import BY_DRAFT_NAME, LENDING_SETTINGS, SETTINGS, TEMPLATE_SETTINGS, Kind, QueueSetting
from engine.model.queue_tree import QueueTree
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.queues.drafts.selectors import DraftRow, DraftState
from scheduler_admin.queues.drafts.texts import OWN, TEMPLATE
from scheduler_admin.queues.drafts.tree_document import text_of
from scheduler_admin.queues.notes import setting_of
from scheduler_admin.queues.pages.editor.address import Shown
from scheduler_admin.queues.pages.editor.folds import Fold
from scheduler_admin.queues.pages.editor.inherited_cells import Above, Inheritance
from scheduler_admin.queues.presenters.setting_words import Options, options, setting_name
from scheduler_admin.queues.selectors import tree_filters
from scheduler_admin.queues.selectors.queues import ordered

MORE = tuple(one for one in SETTINGS if not one.has_column and not one.about_lending)
"""The settings that are shown where a queue is unfolded, beside those of lending."""
_AMOUNTS = frozenset(one.typed_as for one in SETTINGS if one.has_column and one.kind is Kind.AMOUNTS)
"""The settings that have a column for each resource."""
_DEEPEST = 6


@dataclass(frozen=True)
class Column:
    """A setting, with what is the same for it in every row."""

    setting: str
    first: bool = False
    """Whether a group of columns begins with it."""

    @cached_property
    def name(self) -> str:
        """As people read it."""
        return setting_name(self.setting)

    @cached_property
    def options(self) -> Options:
        """The choices; empty: it is typed."""
        return options(self.setting)


@dataclass(frozen=True)
class Field:
    """One setting of one queue, where it is typed. ``was``: its text in the base; None: the same."""

    row: int
    queue: str
    column: Column
    text: str
    was: str | None
    errors: tuple[Note, ...]
    amount: str = ""
    """Of a percentage: what it comes to; empty: it is none, or nobody knows."""
    inherited: tuple[str, str] = ("", "")
    """What holds where it is empty, by a queue above: short, and in a sentence."""

    @property
    def setting(self) -> str:
        """Which it is."""
        return self.column.setting

    @property
    def id(self) -> str:
        """Of the element."""
        return f"f{self.row}-{self.setting}"

    @property
    def error_id(self) -> str:
        """Of the element that says what is wrong."""
        return f"e{self.row}-{self.setting}"

    @property
    def label(self) -> str:
        """``queue-b, max cpu``."""
        return f"{self.queue}, {self.column.name}"

    @property
    def options(self) -> Options:
        """The choices, with what it says even where that is none of them; empty: it is typed."""
        known = self.column.options
        return known if not known or self.text in dict(known) else (*known, (self.text, self.text))


@dataclass(frozen=True)
class Wrong:
    """An error under a row: below which field, or (None) below the queue's name."""

    note: Note
    field: Field | None
    setting: str
    column: int
    """Up to which column it reaches, counted from one."""
    rest: int
    """Columns after that."""


class Row(msgspec.Struct, frozen=True, gc=False):
    """A queue of the grid. Its fields are only made where they are drawn."""

    of: DraftRow
    columns: tuple[Column, ...]
    marks: str
    act: str
    """What it is unfolded for; empty: it is not."""
    editable: bool
    shown: Shown
    closed: str
    """The query of the page without it unfolded."""
    takes: bool
    """Whether queues may be moved below it."""
    fold: Fold
    inherited: Inheritance | None
    """Of all rows."""
    pods: int
    """How many pods run in it as a leaf, which lose their queue when another is put below it."""
    named: str
    """What is the same for every row and seen in each: the settings that have columns, and the language."""
    whole: bool
    """Whether its reader sees everything; else not which namespaces run in it, as some may be another tenant's, nor by
    which former paths pods come."""

    @property
    def href(self) -> str:
        """Unfolds it, or folds it again."""
        joint = "" if self.closed.endswith("?") else "&"
        return f"{self.closed}#n{self.pk}" if self.act else f"{self.closed}{joint}queue={self.pk}#n{self.pk}"

    @property
    def toggled(self) -> str:
        """Hides what is below it, or shows it again."""
        return f"{self.shown.toggled(self.pk).closed}#n{self.pk}"

    @property
    def part(self) -> str:
        """Draws all that is below it, where the page draws nothing of that."""
        return f"{self.shown.within(self.pk).closed}#n{self.pk}"

    @property
    def pk(self) -> int:
        """Of the DraftQueue."""
        return self.of.placed.pk

    @property
    def level(self) -> int:
        """1 for the root."""
        return self.of.placed.depth + 1

    @property
    def indent(self) -> int:
        """The same, as far as there is room."""
        return min(self.level, _DEEPEST)

    @property
    def former(self) -> str:
        """Its path in the base, where it has moved or was renamed."""
        change = self.of.change
        return change.former if change is not None and change.kind is ChangeKind.MOVED else ""

    @property
    def fields(self) -> list[Field]:
        """Those with a column, in their order."""
        return [self._field(column) for column in self.columns]

    @property
    def more(self) -> list[Field]:
        """Those without."""
        seen = [one for one in MORE if self.whole or one.kind is not Kind.NAMES]
        return [self._field(Column(one.typed_as)) for one in seen]

    @property
    def lending(self) -> list[Field]:
        """How it lends and takes: what has a meaning where it stands, and whatever else is set."""
        row, found = self.of.placed.row, []
        for setting in LENDING_SETTINGS:
            meant = (self.level > 1 or not setting.below_root_only) and (self.of.leaf or not setting.leaf_only)
            found += [name for name in self._names(setting) if meant or text_of(row, name)]
        return [self._field(Column(name)) for name in found]

    def _names(self, setting: QueueSetting, prefix: str = "") -> list[str]:
        """What drafts call a setting: once, or with each resource that has a column or that it is set for."""
        own = f"{prefix}{setting.typed_as}"
        if setting.kind is not Kind.AMOUNTS:
            return [own]
        named = [name for name in self.of.placed.row.settings if name.startswith(f"{own}/")]
        return list(dict.fromkeys((*(f"{own}/{resource}" for resource in self._resources), *named)))

    @property
    def _resources(self) -> list[str]:
        """Those that have columns."""
        return [name for one in self.columns for field, _slash, name in [one.setting.partition("/")] if field == "max"]

    @property
    def template(self) -> list[Field]:
        """Those of its template, where it may have one: leaves come into being below queues that hold queues."""
        has_one = any(name.startswith(TEMPLATE) for name in self.of.placed.row.settings)
        if not self.whole or (self.of.leaf and not has_one):
            return []
        plain = [one for one in TEMPLATE_SETTINGS if one.kind is not Kind.AMOUNTS]
        amounts = [one for one in TEMPLATE_SETTINGS if one.kind is Kind.AMOUNTS]
        names = [name for one in (*plain, *amounts) for name in self._names(one, TEMPLATE)]
        return [self._field(Column(name)) for name in (OWN, *names)]

    @property
    def wrong(self) -> list[Wrong]:
        """Its errors, each at its field: first those below its name, then in the order of the columns."""
        errors = self.of.errors
        places = {field.setting: (index, field) for index, field in enumerate(self.fields if errors else (), start=2)}
        found = []
        for note in errors:
            setting = setting_of(note)
            column, field = places.get(setting, (self.span, None))
            found.append(Wrong(note, field, setting, column, self.span - column))
        return sorted(found, key=lambda one: one.column if one.field else 0)

    @property
    def first_marks(self) -> str:
        """The fences' classes for its first line, when others follow."""
        return self._marks("-end") if self.wrong or self.act else self.marks

    @property
    def error_marks(self) -> list[str]:
        """For each line of an error."""
        marks = [self._marks("-top", "-end")] * len(self.wrong)
        return marks if self.act or not marks else [*marks[:-1], self.last_marks]

    @property
    def last_marks(self) -> str:
        """For the last of several lines."""
        return self._marks("-top")

    def _marks(self, *without: str) -> str:
        return " ".join(mark for mark in self.marks.split() if not mark.endswith(without))

    @property
    def errors(self) -> list[tuple[Wrong, str]]:
        """Its errors, each with its line's marks."""
        return list(zip(self.wrong, self.error_marks, strict=True))

    @property
    def span(self) -> int:
        """How many columns the grid has."""
        return len(self.columns) + 1

    @property
    def _above(self) -> Above:
        """What it inherits."""
        return self.inherited.of(self.of) if self.inherited else {}

    def _field(self, column: Column) -> Field:
        row, setting = self.of.placed.row, column.setting
        field, _slash, resource = setting.partition("/")
        if field == "template":
            resource = resource.replace("/", " ", 1)
        before = self.of.setting(BY_DRAFT_NAME[field].name if field in BY_DRAFT_NAME else field, resource)
        errors = tuple(one for one in self.of.errors if setting_of(one) == setting)
        was, text = before.before if before else None, text_of(row, setting)
        inherited = ("", "") if text else self._above.get(setting, ("", ""))
        return Field(self.pk, row.name, column, text, was, errors, self._comes_to(setting, text), inherited)

    def _comes_to(self, setting: str, text: str) -> str:
        """The amount of a percentage."""
        own = setting.removeprefix("template/")
        queue = self.of.queue if own == setting or self.of.queue is None else self.of.queue.template
        field, _slash, resource = own.partition("/")
        if not is_share(text) or queue is None or field not in FIELDS or resource not in shares_of(queue, field):
            return ""
        return format_amount(resource, amounts_of(queue, field)[resource])

    @property
    def _of_shares(self) -> object:
        """What its percentages come to, with what does not change without them."""
        queue = self.of.queue
        if queue is None or not (queue.guaranteed_share or queue.max_share or queue.template):
            return None
        return queue.guaranteed, queue.max, queue.template

    @property
    def digest(self) -> str:
        """Differs whenever the row would look different; short, as a thousand of them are sent with each act."""
        of, fold, placed = self.of, self.fold, self.of.placed
        # What is folded, how many siblings there are, and what is inherited the page's own script puts in.
        alike = _digest(placed.depth, fold.holds, self.takes, self.editable, self.marks, self.act, self.named)
        shares, own = self._of_shares, ""
        if of.errors or of.change or shares:
            own = _digested(
                ([(note.message.id, note.message.params, note.field) for note in of.errors], of.change, shares)
            )
        return f"{placed.row.changed_in}-{placed.above or 0}-{fold.wrong}-{alike}{own}"


def marks_of(rows: Sequence[DraftRow]) -> Mapping[str, str]:
    """Path -> the marks of fences, of all queues of a draft."""
    fences = [
        one.path
        for one in [row.placed for row in rows]
        if one.depth and one.row.settings.get("preemption_policy") == "fence"
    ]
    return _marks(tuple([row.placed.path for row in rows]), tuple(fences))


@lru_cache(maxsize=8)  # few acts make or move a queue or a fence
def _marks(shown: tuple[str, ...], fences: tuple[str, ...]) -> Mapping[str, str]:
    """The marks of fences, by path."""
    return tree_filters.fence_marks(shown, fences)


@lru_cache(maxsize=1024)
def _digest(*parts: object) -> str:
    """Of what is the same for many rows."""
    return _digested(parts)


def _digested(parts: object) -> str:
    return blake2b(msgspec.json.encode(parts), digest_size=4).hexdigest()


def columns(names: Sequence[str]) -> tuple[Column, ...]:
    """The settings that have a column, for resources of these names."""
    found: list[Column] = []
    for setting in SETTINGS:
        if setting.has_column and setting.kind is Kind.AMOUNTS:
            found += [Column(f"{setting.typed_as}/{name}", first=name == names[0]) for name in names]
        elif setting.has_column:
            found.append(Column(setting.typed_as, first=bool(found)))
    return tuple(found)


def resource_names(state: DraftState, capacity: Mapping[str, int], extra: Iterable[str]) -> list[str]:
    """The resources that have columns: what the tree or the cluster names, then what was asked for."""
    typed = set[str]().union(*[row.placed.row.settings for row in state.rows])
    parts = (name.partition("/") for name in typed)
    names = ordered({resource for field, _slash, resource in parts if field in _AMOUNTS}, capacity)
    return [*names, *(name for name in extra if name not in names)]


def resources_of(tree: QueueTree) -> list[str]:
    """The resources that have columns where nobody edits a tree: those that it names."""
    amounts = [one for one in SETTINGS if one.typed_as in _AMOUNTS]
    return tree.once("columns", lambda: ordered(_named(tree, amounts), {}))


def _named(tree: QueueTree, settings: Sequence[QueueSetting]) -> set[str]:
    found = set[str]()
    for setting in settings:
        found.update(*[setting.of(queue) for queue in tree.queues.values()])
        found.update(*[shares_of(queue, setting.name) for queue in tree.queues.values()])
    return found


def grid(
    rows: Sequence[DraftRow],
    folds: Sequence[Fold],
    marks: Mapping[str, str],
    names: Sequence[str],
    shown: Shown,
    changes_in: Scope,
    inherited: Inheritance | None = None,
    *,
    whole: bool = True,
    pods: Mapping[str, int] = MappingProxyType({}),
) -> list[Row]:
    """Queues of a draft as they are drawn, in their order; those of ``changes_in`` are edited.

    ``folds``: where each of them stands. ``marks``: see marks_of. ``pods``: leaf of the tree in force -> how many run
    in it.
    """
    every, closed = columns(names), shown.closed
    named = " ".join((*(one.setting for one in every), get_language() or ""))
    return [
        Row(
            of=one,
            columns=every,
            marks=marks[one.path],
            act=shown.act if one.placed.pk == shown.queue else "",
            editable=changes_in.may_change(one.path),
            takes=changes_in.has_path(one.path),
            fold=fold,
            inherited=inherited,
            pods=pods.get(one.placed.row.origin, 0) if one.leaf else 0,
            shown=shown,
            closed=closed,
            named=named,
            whole=whole,
        )
        for one, fold in zip(rows, folds, strict=True)
    ]
