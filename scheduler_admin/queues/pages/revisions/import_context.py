"""What the import page says of a document before anything of it is kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from django.utils.translation import gettext as _

from engine.explain import Message
from engine.formats import registry
from engine.formats.import_result import Imported
from engine.formats.registry import Format
from engine.formats.tree_json.canonical import encode_tree
from engine.formats.tree_json.diff import QueueChange, Setting, changes, label
from engine.model.notes import ImportFailure, Note, Severity
from engine.model.queue_tree import ROOT_ONLY
from engine.policies import lint_rules
from engine.tree.lint import remarks
from engine.tree.lint.room import ClusterRoom
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.queues.notes import remedy, said
from scheduler_admin.queues.presenters.changes import Lines, changed
from scheduler_admin.queues.presenters.setting_words import format_name
from scheduler_admin.queues.services.consumers import Consumers, consumers_of, tree_errors
from scheduler_admin.queues.services.hierarchies import Terms, terms_of, tree_of
from scheduler_admin.queues.services.imports import terms_with

MOST = 300
"""Queues and remarks that are shown; the rest is counted."""
MOST_LINES = 5
"""Of one remark on many."""
_LONGEST_LINE = 160


@dataclass(frozen=True)
class Remark:
    """A sentence on some lines of the document. ``text`` is what the first of them says."""

    kind: str
    word: str
    lines: Sequence[int]
    more: int
    """How many more lines it is about."""
    text: str
    sentence: str
    remedy: str


@dataclass(frozen=True)
class Became:
    """A queue of the document and what becomes of it."""

    title: str
    line: int | None
    path: str
    settings: Sequence[str]


@dataclass(frozen=True)
class Preview:
    """A document that was read, or could not be."""

    text: str
    form: Format | None
    """Its format; None: in none that is known."""
    imported: Imported | None
    notes: Sequence[Note]
    """What reading it has to say; of one that could not be, why."""
    current: Revision | None
    room: ClusterRoom | None
    consumers: Consumers
    """Who reads the tree."""

    @property
    def form_name(self) -> str:
        """Its format in words."""
        return format_name(self.form) if self.form else ""

    @property
    def digest(self) -> str:
        """Of what was looked at: a button takes over that, not what was typed since."""
        return sha256(f"{self.form}\n{self.text}".encode(errors="replace")).hexdigest()

    @property
    def terms(self) -> Terms:
        """By which it would be decided."""
        return terms_with(self.imported.terms if self.imported else {}, self.current, self.form or "")

    @cached_property
    def findings(self) -> Sequence[Note]:
        """What lint finds in the tree, of what is wrong or not as it seems."""
        if self.imported is None:
            return ()
        by = self.terms
        kept = self.imported.form
        wrong = tree_errors(self.imported.tree, self.consumers, kept=kept, policy=by.policy, dialect=by.dialect)
        form = self.consumers.form(kept)
        found = remarks(self.imported.tree, lint_rules(by.policy, by.dialect), self.room, form=form)
        found = (*wrong, *found)
        return [note for note in found if note.severity is not Severity.INFO]

    @property
    def publishable(self) -> bool:
        """Whether it may come into force as it is."""
        return self.imported is not None and not any(note.severity is Severity.ERROR for note in self.findings)

    @cached_property
    def remarks(self) -> Sequence[Remark]:
        """What could not be taken over, or not as it seems to be meant: errors first."""
        return _remarks([note for note in self.notes if note.severity is not Severity.INFO], self.text)

    @cached_property
    def kept(self) -> Sequence[Remark]:
        """What is kept and not edited here."""
        return _remarks([note for note in self.notes if note.severity is Severity.INFO], self.text)

    @cached_property
    def checks(self) -> Sequence[Remark]:
        """What lint finds, at the lines of the queues."""
        sources = self.imported.sources if self.imported else {}
        lines = {path: source.line for path, source in sources.items()}
        return _remarks(self.findings, self.text, lines)

    @cached_property
    def queues(self) -> Sequence[Became]:
        """Queue by queue what becomes what."""
        return _queues(self.imported)[:MOST] if self.imported else ()

    @property
    def more(self) -> int:
        """How many more queues there are."""
        return max(0, len(self.imported.tree.queues) - MOST) if self.imported else 0

    @cached_property
    def differences(self) -> Sequence[QueueChange]:
        """What it would change in what is in force."""
        return changes(tree_of(self.current), self.imported.tree) if self.imported and self.current else ()

    @property
    def changes(self) -> Lines[Message]:
        """The same in words."""
        return changed(self.differences)

    @property
    def placement_differs(self) -> bool:
        """Whether pods would find their leaf by other rules."""
        return bool(self.imported and self.current and self.imported.tree.placement != tree_of(self.current).placement)

    @property
    def terms_differ(self) -> bool:
        """Whether the document says to decide otherwise than what is in force."""
        return self.current is not None and self.terms != terms_of(self.current)

    @property
    def new(self) -> bool:
        """Whether it differs at all from what is in force."""
        same = self.imported and self.current and encode_tree(self.imported.tree).decode() == self.current.document
        return not same or self.terms_differ


def preview(text: str, asked: Format | None, hierarchy: Hierarchy, room: ClusterRoom | None) -> Preview:
    """A document as it would be taken over; ``asked`` is the format that was chosen, None: what its words tell."""
    current = hierarchy.current
    form = asked or registry.detect(text)
    try:
        imported = registry.read(text, form, hierarchy.capacity)
    except ImportFailure as failure:
        return Preview(text, form, None, failure.notes, current, room, Consumers())
    return Preview(text, form, imported, imported.notes, current, room, consumers_of(hierarchy))


def _queues(imported: Imported) -> list[Became]:
    shown = {change.path: change.settings for change in changes(ROOT_ONLY, imported.tree)}
    return [_became(imported, path, shown.get(path, ())) for path in imported.tree.walk()]


def _became(imported: Imported, path: str, settings: Sequence[Setting]) -> Became:
    source = imported.sources.get(path)
    said_of = [f"{label(one)} {one.after}" for one in settings if one.field != "parent"]
    return Became(source.title if source else _("not in the document"), source.line if source else None, path, said_of)


def _remarks(notes: Iterable[Note], text: str, lines: Mapping[str, int | None] | None = None) -> list[Remark]:
    """The notes as remarks: the same sentence once, with the lines that it is about."""
    words = {Severity.ERROR: _("error"), Severity.WARNING: _("warning"), Severity.INFO: _("kept")}
    kinds = {Severity.ERROR: "stop", Severity.WARNING: "warn", Severity.INFO: "none"}
    typed = text.split("\n")
    about: dict[tuple[Severity, str, str], dict[int, None]] = {}
    for note in notes:
        at = about.setdefault((note.severity, _sentence(note, lines), remedy(note)), {})
        line = note.line or (lines or {}).get(note.path)
        if line is not None:
            at[line] = None
    order = list(Severity)
    return [
        Remark(
            kind=kinds[severity],
            word=words[severity],
            lines=sorted(at)[:MOST_LINES],
            more=max(0, len(at) - MOST_LINES),
            text=typed[min(at) - 1].strip()[:_LONGEST_LINE] if at and min(at) <= len(typed) else "",
            sentence=sentence,
            remedy=what_to_do,
        )
        for (severity, sentence, what_to_do), at in sorted(about.items(), key=lambda one: order.index(one[0][0]))[:MOST]
    ]


def _sentence(note: Note, lines: Mapping[str, int | None] | None) -> str:
    """Of what lint finds, with the queue: a line alone does not tell it."""
    return f"{note.path}: {said(note)}" if lines is not None and note.path else said(note)
