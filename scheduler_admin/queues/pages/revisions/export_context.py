"""What the export page says of each format."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.formats.registry import Format
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.pages.editor import parts
from scheduler_admin.queues.presenters.setting_words import format_name
from scheduler_admin.queues.selectors.revisions import written
from scheduler_admin.queues.services.hierarchies import native_of, tree_of

MOST = 50


@dataclass(frozen=True)
class Export:
    """A format that a revision can be had in."""

    form: str
    name: str
    own: bool
    """Whether the revision came from a document of it, which is written back with what else it says."""
    missing: Sequence[str] | None
    """What of the tree it can't say, at most MOST; None if that was not checked."""
    more: int


def exports(revision: Revision, checked: str) -> list[Export]:
    """All of them. Of a large tree only the ``checked`` format is written, to see what it can't say."""
    large = len(tree_of(revision).queues) > parts.MOST
    return [_export(revision, form, check=not large or form == checked) for form in Format]


def _export(revision: Revision, form: Format, *, check: bool) -> Export:
    own = native_of(revision).format == form
    if not check:
        return Export(form.value, format_name(form), own, None, 0)
    notes = written(revision, form).notes
    missing = [f"{note.path}: {said(note)}" if note.path else said(note) for note in notes[:MOST]]
    return Export(form.value, format_name(form), own, missing, max(0, len(notes) - MOST))
