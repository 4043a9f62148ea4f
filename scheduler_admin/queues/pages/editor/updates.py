"""Answers to the editor's script: only what differs from what it has.

``shown`` in its requests is ``pk.digest`` of every row there, in order.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.http import HttpRequest, JsonResponse
from django.template import Engine, RequestContext

from scheduler_admin.queues.forms import NewsForm
from scheduler_admin.queues.pages.editor.draft_context import DraftPage
from scheduler_admin.queues.pages.editor.grid import Row
from scheduler_admin.queues.pages.editor.inherited_cells import Inheritance

PARTS = (
    "title",
    "notices",
    "terms",
    "placement",
    "undo",
    "columns",
    "conflicts",
    "checks",
    "changes",
    "publish",
    "bar",
)
"""The parts of the page that an act may change, beside the rows. Each has a template and an element of its name."""
_MANY = 100
"""When so many rows differ, so may the columns: then all is told at once."""


class Started(NamedTuple):
    """That a draft is stored now: its addresses before and since then, and the keys of its rows in their order."""

    was: str
    now: str
    rows: Sequence[int]


def news(request: HttpRequest, page: DraftPage, focus: str = "", started: Started | None = None) -> JsonResponse:
    """All that differs: rows by their digests, what they inherit, the parts beside them.

    The rows alone where the script says so, which asks for the rest once they stand.
    """
    form = NewsForm(request.POST)
    form.is_valid()  # what is wrong counts as not sent
    grid = _grid(request, page, {} if started else form.had, focus)
    if started:
        grid["started"] = started._asdict()
    if form.rows_alone and len(grid["rows"]) < _MANY:
        return _answer(page, grid)
    return _answer(page, grid | _beside(request, page, form.cleaned_data.get("inherited", "")))


def _answer(page: DraftPage, told: dict[str, Any]) -> JsonResponse:
    response = JsonResponse(told)
    response["ETag"] = page.tag
    response["Cache-Control"] = "private, no-store"
    return response


def _grid(request: HttpRequest, page: DraftPage, had: Mapping[str, str], focus: str) -> dict[str, Any]:
    """The rows as they are in this version, their errors included."""
    with _drawing(request, page) as draw:
        rows = {row.pk: draw("row", row=row) for row in page.drawn if _differs(row, had)}
    return {"version": page.draft.version, "rows": rows, "order": _order(page.drawn, list(had)), "focus": focus}


def _beside(request: HttpRequest, page: DraftPage, inherited: str) -> dict[str, Any]:
    """All else, which is looked at with the whole tree; and the tag of a page that shows all of it."""
    with _drawing(request, page) as draw:
        parts = {part: draw(part) for part in PARTS}
    return {
        "tag": page.tag,
        "inherited": _inherited(page.inheritance, inherited),
        "parts": parts,
    }


@contextmanager
def _drawing(request: HttpRequest, page: DraftPage) -> Iterator[Callable[..., str]]:
    """Draws templates of one page by their names: what is the same for all of them is worked out once.

    A context holds itself, and with it the page and all that it was made of: it is emptied, else that would pile up.
    """
    engine = Engine.get_default()
    context = RequestContext(request, {"view": page, "cluster": page.cluster})

    def draw(name: str, **more: Any) -> str:
        with context.push(**more):
            return engine.get_template(f"queues/_draft_{name}.html").render(context)

    try:
        with context.bind_template(engine.get_template("queues/_draft_row.html")):
            yield draw
    finally:
        context.dicts.clear()


def _inherited(now: Inheritance, had: str) -> dict[str, Any] | None:
    """What is inherited; None where the reader has it."""
    return None if now.tag == had else {"tag": now.tag, "by_parent": now.by_parent}


def _differs(row: Row, had: Mapping[str, str]) -> bool:
    """Whether a row looks different; what deleting one says is of all below it, and of the cluster."""
    return had.get(str(row.pk)) != row.digest or row.act == "delete"


def _order(rows: Sequence[Row], had: Sequence[str]) -> list[int] | None:
    """The rows in their order; None where that is the order which the reader has."""
    order = [row.pk for row in rows]
    return None if [str(pk) for pk in order] == list(had) else order
