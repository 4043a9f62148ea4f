"""What the page of a cluster's own copy of the tree shows, put together from what is stored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from engine.cluster.copies import KEY
from engine.cluster.rights import APPLY, CONFIG
from engine.formats.notes import ImportFailure, Note
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.copies.models import Copy, Writing
from scheduler_admin.copies.standing import Standing, differences, standing, wanted_text
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.notes import said
from scheduler_admin.web.editor.panels import MOST, Lines, changed

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
    there: Lines
    """What others changed there."""
    writing: Lines
    """What writing the revision would change."""
    placement: bool
    text: Sequence[TextLine]
    more_text: bool
    problems: Sequence[str]
    writings: Sequence[Writing]
    pending: bool


def copies_page(user: Who, cluster: Cluster) -> dict[str, Any]:
    """The context of the page."""
    return {
        "view": _view(user, cluster),
        "config": CONFIG,
        "key": KEY,
        "manifest": APPLY,
        "may_write": scope_of(user, "edit").everything,
    }


def _view(user: Who, cluster: Cluster) -> View:
    copy = Copy.objects.restrict(user, "view").select_related("agreed_with").filter(cluster=cluster).first()
    current = cluster.hierarchy.current if cluster.hierarchy else None
    found = differences(copy, current) if copy and copy.there and current else None
    text = list(islice(_difference(copy, current), _LINES + 1)) if found and copy and current else []
    writings = list(Writing.objects.restrict(user, "view").filter(cluster=cluster).select_related("revision")[:_LATEST])
    return View(
        copy=copy,
        current=current,
        standing=standing(copy, current) if copy else Standing.NONE,
        there=changed(found.there if found else ()),
        writing=changed(found.writing if found else ()),
        placement=bool(found and found.placement),
        text=text[:_LINES],
        more_text=len(text) > _LINES,
        problems=_problems(copy) if copy else (),
        writings=writings,
        pending=any(one.state == Writing.State.INTENDED for one in writings),
    )


def _difference(copy: Copy, current: Revision) -> Iterator[TextLine]:
    """What writing changes in the text, with three lines around each place."""
    try:
        wanted = wanted_text(copy, current)
    except (ImportFailure, ValueError):
        return
    found = unified_diff(copy.text.splitlines(), wanted.splitlines(), lineterm="")
    for line in islice(found, 2, None):  # after the names of the two files
        yield TextLine(_KINDS.get(line[0], ""), line)


def _problems(copy: Copy) -> list[str]:
    notes = [msgspec.convert(one, Note) for one in copy.problems[:MOST]]
    return [
        _("Line %(line)s: %(what)s") % {"line": one.line, "what": said(one)} if one.line else said(one) for one in notes
    ]
