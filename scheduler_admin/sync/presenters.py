"""What the page of a cluster's own copy of the tree shows, put together from what is stored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from engine.cluster.inspection.rights import APPLY, CONFIG
from engine.cluster.sync.config_map import KEY
from engine.explain import Message
from engine.formats.written_document import Written
from engine.model.notes import ImportFailure, Note
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.presenters.changes import MOST, Lines, changed
from scheduler_admin.sync.models import Copy, Writing
from scheduler_admin.sync.state import Differences, Standing, differences, standing, wanted
from scheduler_admin.sync.text_difference import difference

_LATEST = 10
_LINES = 400
"""Of the texts' difference, at most."""
_KINDS = {"+": "plus", "-": "minus", "@": "at"}


@dataclass(frozen=True)
class TextLine:
    """A line of the difference of two texts. ``kind``: ``plus``, ``minus``, ``at`` (where it is), or empty."""

    kind: str
    text: str


@dataclass(frozen=True)
class View:
    """What is to be said of the copy and the revision in force."""

    copy: Copy | None
    current: Revision | None
    standing: Standing
    differences: Differences | None
    there: Lines[Message]
    """What others changed there."""
    writing: Lines[Message]
    """What writing the revision would change."""
    placement: bool
    text: Sequence[TextLine]
    more_text: bool
    problems: Sequence[str]
    notes: Sequence[str]
    """What the cluster's copy can't say of the revision's tree."""
    writings: Sequence[Writing]
    pending: bool
    clash: Writing | None
    """What was shown, asked for, and left undone as others answer for some of it."""


def copies_page(user: Who, cluster: Cluster) -> dict[str, Any]:
    """The context of the page."""
    return {
        "view": view_of(user, cluster),
        "config": CONFIG,
        "key": KEY,
        "manifest": APPLY,
        "may_write": scope_of(user, "edit").everything,
    }


def view_of(user: Who, cluster: Cluster) -> View:
    """What is to be said of them."""
    copy = Copy.objects.restrict(user, "view").select_related("agreed_with").filter(cluster=cluster).first()
    current = cluster.hierarchy.current if cluster.hierarchy else None
    found = differences(copy, current) if copy and copy.there and current else None
    written = _written(copy, current) if found and copy and current else None
    text = list(islice(_difference(copy.text, written.text), _LINES + 1)) if copy and written else []
    writings = list(Writing.objects.restrict(user, "view").filter(cluster=cluster).select_related("revision")[:_LATEST])
    return View(
        copy=copy,
        current=current,
        standing=standing(copy, current) if copy else Standing.NONE,
        differences=found,
        there=changed(found.there if found else ()),
        writing=changed(found.writing if found else ()),
        placement=bool(found and found.placement),
        text=text[:_LINES],
        more_text=len(text) > _LINES,
        problems=_problems(copy) if copy else (),
        notes=[_told(note) for note in written.notes[:MOST]] if written else (),
        writings=writings,
        pending=any(one.state == Writing.State.IN_PROGRESS for one in writings),
        clash=_clash(writings, copy, current),
    )


def _clash(writings: Sequence[Writing], copy: Copy | None, current: Revision | None) -> Writing | None:
    """The latest, while both are still what they were."""
    last = writings[0] if writings else None
    if last is None or last.state != Writing.State.NEEDS_CONFIRMATION or copy is None:
        return None
    return last if (last.onto, last.revision) == (copy.version, current) else None


def _written(copy: Copy, current: Revision) -> Written | None:
    try:
        return wanted(copy, current)
    except (ImportFailure, ValueError):
        return None


def _difference(before: str, after: str) -> Iterator[TextLine]:
    """What writing changes in the text, with three lines around each place."""
    for line in difference(before, after, _LINES):
        yield TextLine(_KINDS.get(line[0], ""), line)


def _problems(copy: Copy) -> list[str]:
    return [_told(msgspec.convert(one, Note)) for one in copy.problems[:MOST]]


def _told(note: Note) -> str:
    what = f"{note.path}: {said(note)}" if note.path else said(note)
    return _("Line %(line)s: %(what)s") % {"line": note.line, "what": what} if note.line else what
