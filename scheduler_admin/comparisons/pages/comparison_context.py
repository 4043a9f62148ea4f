"""What a comparison found, as tables: a row a figure, a column a side, the best of each row said in a word."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from engine.model.quantities import column
from engine.observation.lost_work import format_work
from engine.planning.comparison import WHOLE, SideFigures
from scheduler_admin.comparisons.columns import columns
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.core.paging import Paged, numbered
from scheduler_admin.core.words import SECONDS, exact, listed, semicolon, span, work_hours, work_unit

MOST = 1_000
"""So many queues are shown together; more are shown in pages."""


@dataclass(frozen=True)
class Cell:
    """A figure of one side."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Row:
    """A figure of all sides. ``meaning``: what it says, where the name does not."""

    name: str
    cells: list[Cell]
    meaning: str = ""


@dataclass(frozen=True)
class Rows:
    """A row for each queue, or a page of them."""

    rows: list[Row]
    paged: Paged | None
    """Where the rows stand among all, where those are too many for one page."""


@dataclass(frozen=True)
class Found:
    """All that the page shows of what was found. ``heads``: what happened first, where that is known."""

    heads: list[str]
    rows: list[Row]
    queues: Rows
    """How long each was below its guarantee; of a moment: how many asks wait for what it lacks in the end."""
    shares: Rows
    points: bool
    """Whether there is a course to be drawn."""


def found(comparison: Comparison, query: QueryDict) -> Found | None:
    """The tables; None where nothing was found yet. ``query``: the page's, which says where in long tables it is."""
    if comparison.result is None:
        return None
    named = columns(comparison)
    figures, past = [one for _name, one in named], bool(comparison.result["record"])
    lasting = comparison.until is not None
    return Found(
        heads=[name for name, _one in named],
        rows=list(_rows(figures, past=past, lasting=lasting)),
        queues=_queues(figures, query, lasting=lasting),
        shares=_by_path([one.shares for one in figures], _percent, query, "shares"),
        points=any(one.course for one in figures),
    )


def _rows(figures: list[SideFigures], *, past: bool, lasting: bool) -> Iterator[Row]:
    def row(name: str, value: Callable[[SideFigures], int | None], write: Callable[[int], str], **more: Any) -> Row:
        return _row(name, [value(one) for one in figures], write, past=past, **more)

    yield row(_("Pods preempted"), lambda one: one.preempted, str)
    again = _("pods that had already been preempted in this period, and replacement pods that were preempted again")
    yield row(_("Preempted again"), lambda one: one.again, str, meaning=again)
    yield row(_("Decisions with preemption"), lambda one: one.decisions, str, judged=False)
    yield row(_("Applications that lost pods"), lambda one: one.applications, str)
    yield from _work(figures, past=past)
    if lasting:
        below = _("how long any queue was below its guarantee while pods waited for the missing resources")
        yield row(_("Time below guarantee"), lambda one: one.below_ms, _time, meaning=below)
    yield row(
        _("Fairness"),
        lambda one: one.jain,
        _index,
        most=True,
        meaning=_("Jain’s index of the dominant shares of leaf queues with demand; 1 means equal shares"),
    )
    yield row(_("Pending pods placed on a node"), lambda one: one.placed, str, judged=False)
    if lasting:
        yield row(_("Median wait"), _wait("half_ms"), _time)
        yield row(_("95th percentile wait"), _wait("most_ms"), _time)
        yield row(_("Total wait of all pods"), _wait("sum_ms"), _time)
    yield row(_("Pods pending at the end"), lambda one: one.waiting, str)
    if not lasting:
        yield Row(_("Becomes stable"), [Cell(_rest(one)) for one in figures])


def _row(
    name: str,
    values: list[int | None],
    write: Callable[[int], str],
    *,
    past: bool,
    most: bool = False,
    judged: bool = True,
    meaning: str = "",
) -> Row:
    """``past``: the first column is what happened, which competes with nobody. ``most``: more is better."""
    sides = [value for value in values[past:] if value is not None]
    best = (max(sides) if most else min(sides)) if judged and len(set(sides)) > 1 else None
    cells = [
        Cell("–" if value is None else write(value), best=place >= past and value is not None and value == best)
        for place, value in enumerate(values)
    ]
    return Row(name, cells, meaning)


def _wait(name: str) -> Callable[[SideFigures], int | None]:
    """A figure of those who got a node; none where nobody did."""
    return lambda one: None if one.waits is None else getattr(one.waits, name)


def _work(figures: list[SideFigures], *, past: bool) -> Iterator[Row]:
    for resource in sorted({name for one in figures for name, done in one.work.items() if done}, key=column):
        name = _("Lost work (%(unit)s)") % {"unit": work_unit(resource)}
        values = [one.work.get(resource, 0) for one in figures]
        row = _row(name, list(values), partial(work_hours, resource, finer=True), past=past)
        cells = [
            Cell(f"≥ {cell.text}" if one.unknown else cell.text, cell.best)
            for cell, one in zip(row.cells, figures, strict=True)
        ]
        yield Row(name, cells, _("resource requests × run time since the start or the last checkpoint"))


def _queues(figures: list[SideFigures], query: QueryDict, *, lasting: bool) -> Rows:
    if lasting:
        return _by_path([one.below for one in figures], _time, query, "below")
    return _by_path([one.short for one in figures], str, query, "below")


def _by_path(each: list[dict[str, int]], write: Callable[[int], str], query: QueryDict, word: str) -> Rows:
    """``word``: the word of the query that names the page of the table."""
    paths = sorted({path for one in each for path in one}, key=lambda path: path.split("."))
    part, paged = numbered(paths, query, word) if len(paths) > MOST else (paths, None)
    return Rows([Row(path, [Cell(write(one[path]) if path in one else "–") for one in each]) for path in part], paged)


def _rest(one: SideFigures) -> str:
    if one.loop:
        return _("no: preemption loop in %(queues)s") % {"queues": listed(one.loop[:4])}
    return _("yes") if one.settles else _("not within the simulated passes")


def _time(ms: int) -> str:
    return span(round(ms / 1000))


def _index(millionths: int) -> str:
    return f"{millionths / WHOLE:.3f}"


def _percent(millionths: int) -> str:
    return f"{millionths * 100 / WHOLE:.1f} %"


def when(comparison: Comparison) -> str:
    """How closely the time was looked at, and from when on it is recorded where that is later; empty for a moment."""
    result = comparison.result or {}
    if not result.get("step_ms"):
        return ""
    told = _("sampled every %(time)s") % {"time": _(SECONDS) % {"n": f"{result['step_ms'] / 1000:g}"}}
    began = datetime.fromtimestamp(result["since_ms"] / 1000, UTC)
    if began > comparison.since:
        told += semicolon() + _("recorded since %(time)s") % {"time": exact(began)}
    return told


CSV_COLUMNS = ("side", "figure", "subject", "value")
"""``subject``: the resource or the queue that a figure is about."""
_SECONDS = 1000


def facts(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield every figure of every side, named as in the REST API: times in seconds, shares between 0 and 1."""
    for name, one in columns(comparison):
        for figure, subject, value in _figures(one):
            yield {"side": name, "figure": figure, "subject": subject, "value": value}


def _figures(one: SideFigures) -> Iterator[tuple[str, str, Any]]:
    yield "preemptions", "", one.decisions
    yield "preempted_pods", "", one.preempted
    yield "repeatedly_preempted_pods", "", one.again
    yield "affected_applications", "", one.applications
    yield from (("lost_work", resource, work) for resource, work in format_work(one.work).items())
    yield "pods_with_unknown_work", "", one.unknown
    yield "placements", "", one.placed
    yield "pending_pods", "", one.waiting
    if one.waits is not None:
        yield "waits.median_seconds", "", _of(one.waits.half_ms, _SECONDS)
        yield "waits.p95_seconds", "", _of(one.waits.most_ms, _SECONDS)
        yield "waits.total_seconds", "", _of(one.waits.sum_ms, _SECONDS)
    yield "fairness", "", _of(one.jain, WHOLE)
    yield "below_guarantee_seconds", "", _of(one.below_ms, _SECONDS)
    yield from (("queue_below_guarantee_seconds", queue, _of(ms, _SECONDS)) for queue, ms in one.below.items())
    yield from (("queue_pods_below_guarantee", queue, pods) for queue, pods in one.short.items())
    yield from (("queue_shares", queue, _of(share, WHOLE)) for queue, share in one.shares.items())
    yield "preemption_loop", "", " ".join(one.loop)
    yield "stable", "", one.settles


def _of(value: int | None, unit: int) -> float | None:
    return None if value is None else value / unit
