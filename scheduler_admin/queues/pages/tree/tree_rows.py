"""Rows of the tree's page, drawn, and which of them a reader's page does not show as they are now.

A row is put together from parts that are kept: what most queues show was drawn at an earlier refresh.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from django.http import QueryDict
from django.template.loader import get_template, render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, ngettext

from engine.model.queue_paths import is_inside
from scheduler_admin.clusters.models import Notice
from scheduler_admin.core.words import listed, queue_name
from scheduler_admin.decisions.selectors.latest import Told
from scheduler_admin.queues.pages.tree.tree_context import Cell, Row
from scheduler_admin.site.templatetags.scheduler import lasting

_DEEPEST = 5
"""Rows that lie deeper are set in no further."""
_NEVER = SafeString('<dd class="dim">–</dd><dd></dd>')


@dataclass(frozen=True)
class Place:
    """Where rows are shown: whose they are, what the address says, in which language, and whether as a flat list."""

    cluster: str
    query: str
    language: str | None
    flat: bool

    @classmethod
    def here(cls, cluster: str, query: QueryDict, *, flat: bool) -> "Place":
        """Of the page that is being answered."""
        return cls(cluster, query.urlencode(), get_language(), flat)


@dataclass(frozen=True)
class Drawn:
    """A row as it is sent. ``digest`` differs where it looks different in the same place, times that count on apart.

    It is drawn once somebody looks at it: the news of a page have few of its rows.
    """

    digest: str
    draw: Callable[[], SafeString]

    @cached_property
    def html(self) -> SafeString:
        """The row."""
        return self.draw()

    @property
    def as_news(self) -> SafeString:
        """The same, to be put in the place of the row that stands there."""
        return SafeString(self.html.replace("<tr ", '<tr hx-swap-oob="true" ', 1))


@dataclass(frozen=True)
class _Name:
    """What the first cell of a row shows."""

    path: str
    leaf: bool
    fenced: bool
    dynamic: bool
    namespaces: str
    leaves: int
    folds: bool
    folded: bool
    opens: bool

    @property
    def name(self) -> str:
        return queue_name(self.path)

    @classmethod
    def of(cls, row: Row) -> "_Name":
        queue = row.tree.queue
        namespaces = listed(queue.own.namespaces)
        said = (queue.path, queue.leaf, queue.fenced, queue.dynamic, namespaces)
        return cls(*said, row.tree.leaves, row.folds, row.folded, row.opens)


def _digest(parts: tuple[object, ...]) -> str:
    """Six letters, so that those of a thousand rows fit into a header."""
    return urlsafe_b64encode(hashlib.sha256(repr(parts).encode()).digest()[:5])[:6].decode()


def draw(rows: Sequence[Row], place: Place) -> list[Drawn]:
    """The rows as they are sent, in their order."""
    render = get_template("queues/_queue_row.html").render
    # Looked up once: a thousand rows have them.
    words = {
        "asks": gettext("pending pods"),
        "last": gettext("last preemption"),
        "into": gettext("took"),
        "out": gettext("lost"),
    }
    return [_row(render, {"row": row, "number": number, "words": words}, place) for number, row in enumerate(rows)]


def _row(render: Callable[[dict[str, Any]], str], given: dict[str, Any], place: Place) -> Drawn:
    row: Row = given["row"]
    tree, name = row.tree, _Name.of(row)
    cells = SafeString("\n  ".join(_cell(cell, place.language) for cell in row.cells))
    kind = f"d{min(tree.depth, _DEEPEST)}{'' if tree.queue.leaf else ' sum'} {tree.marks}"
    due = row.notice and row.notice.due_at
    mark = _digest((name, kind, row.hidden, due, cells, tree.asks, tree.oldest_ask_ms, row.into, row.out))

    def html() -> SafeString:
        context = given | {
            "kind": kind,
            "digest": mark,
            "name": _drawn_name(name, place, row.notice) if row.notice else _name(name, place),
            "cells": cells,
            "into": _last(row.into, "in", tree.path, place),
            "out": _last(row.out, "out", tree.path, place),
        }
        return SafeString(render(context))

    return Drawn(mark, html)


@lru_cache(maxsize=5_000)
def _name(name: _Name, place: Place) -> SafeString:
    return _drawn_name(name, place, None)


def _drawn_name(name: _Name, place: Place, notice: Notice | None) -> SafeString:
    context = {
        "queue": name,
        "place": place,
        "notice": notice,
        "fold": _folding(place.query, name.path, folded=name.folded) if name.folds else "",
        "open": _opening(place.query, name.path) if name.opens else "",
    }
    return render_to_string("queues/_queue_name.html", context)


@lru_cache(maxsize=10_000)
def _cell(cell: Cell, _language: str | None) -> SafeString:
    return render_to_string("queues/_queue_cell.html", {"cell": cell})


def _last(last: Told | None, side: str, path: str, place: Place) -> SafeString:
    """When it was, and whose pods it took or for whom."""
    if last is None:
        return _NEVER
    told = {"n": last.pods, "name": queue_name(last.other)}
    if not last.other:
        words = ngettext("%(n)s pod", "%(n)s pods", last.pods)
    elif side == "in":
        words = ngettext("%(n)s pod from %(name)s", "%(n)s pods from %(name)s", last.pods)
    else:
        words = ngettext("%(n)s pod to %(name)s", "%(n)s pods to %(name)s", last.pods)
    address = reverse("web:decision", args=[place.cluster, last.decision])
    linked = format_html('<a id="{}-{}" href="{}">{}</a>', side, path, address, lasting(last.at))
    return format_html("<dd>{}</dd><dd>{}</dd>", linked, words % told)


def _folding(query: str, path: str, *, folded: bool) -> str:
    """The address of this page with one queue folded, or unfolded if it is folded."""
    there = QueryDict(query, mutable=True)
    said, meant = ("folded", "open") if folded else ("open", "folded")
    kept = there.getlist(said)
    if path in kept:
        there.setlist(said, [each for each in kept if each != path])
    else:
        there.appendlist(meant, path)
    return f"?{there.urlencode()}"


def _opening(query: str, path: str) -> str:
    """The address of this page with all open that is below a queue."""
    there = QueryDict(query, mutable=True)
    for said in ("folded", "open", "below"):
        there.setlist(said, [each for each in there.getlist(said) if not is_inside(each, path)])
    there.appendlist("below", path)
    return f"?{there.urlencode()}"
