"""Figures for plotly, as plain dicts: importing plotly here would cost every worker its memory.

Colours are not chosen here. A trace says in ``meta`` what it is, and the page's module paints it from the
stylesheet, so that light and dark follow at once.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from operator import attrgetter
from typing import Any

from django.utils.translation import gettext as _

from scheduler_admin.core.words import Unit, amount_text
from scheduler_admin.usage.selectors import Point, Series


@dataclass(frozen=True)
class Mark:
    """A preemption on the plot: into or out of the queue, with the page of its decision."""

    at: datetime
    text: str
    url: str
    out: bool


@dataclass(frozen=True)
class _Shown:
    """Points with their times as plotly reads them; none where nothing was sampled, which no line goes across."""

    times: list[str]
    points: list[Point | None]

    @classmethod
    def of(cls, series: Series) -> "_Shown":
        """With a gap where samples are missing."""
        found = list(_with_gaps(series.points, timedelta(seconds=series.step_s)))
        return cls([_iso(at) for at, _point in found], [point for _at, point in found])


_MISSED = 3
"""So many steps without a sample are a gap."""


def usage_figure(series: Series, marks: Sequence[Mark], since: datetime, until: datetime) -> dict[str, Any]:
    """Usage with what is promised and max as lines, what is over the promise filled, preemptions as marks."""
    points = series.points
    values = [v for p in points for v in (p.highest, p.deserved, p.guaranteed, p.max) if v is not None]
    unit = Unit.of(series.resource, values)
    shown = _Shown.of(series)
    texts = ["" if point is None else amount_text(series.resource, point.used) for point in shown.points]
    data = [
        *(_shares if series.shared else _guarantees)(unit, shown),
        _line("used", _("used (mean)") if series.rolled else _("used"), unit, shown, text=texts),
        *([_line("highest", _("used (peak)"), unit, shown)] if series.rolled else []),
        *(_marks(kind, unit, points, marks) for kind in ("in", "out")),
    ]
    return {"data": data, "layout": _layout(unit, since, until, _top(unit, points))}


def _with_gaps(points: Sequence[Point], step: timedelta) -> Iterator[tuple[datetime, Point | None]]:
    for former, point in zip((None, *points), points, strict=False):
        if former and point.at - former.at > _MISSED * step:
            yield former.at + step, None
        yield point.at, point


def _guarantees(unit: Unit, shown: _Shown) -> list[dict[str, Any]]:
    return [
        _line("guaranteed", _("guaranteed"), unit, shown, shape="hv"),
        _over(_("above the guarantee"), "guaranteed", unit, shown),
        _line("max", _("max"), unit, shown, shape="hv", dash="dot"),
    ]


def _shares(unit: Unit, shown: _Shown) -> list[dict[str, Any]]:
    """As kube-arbitrator draws it: hard is the upper edge, what is deserved is dashed, reserved is a line below."""
    return [
        _line("reserved", _("reserved"), unit, shown, shape="hv"),
        _line("deserved", _("deserved"), unit, shown, shape="hv", dash="dash"),
        _over(_("borrowed"), "deserved", unit, shown),
        _line("hard", _("hard cap"), unit, shown, shape="hv"),
    ]


_FIELDS = {"over": "used", "reserved": "guaranteed", "hard": "max"}
"""What of a point a trace shows, where it is not called the same."""


def _over(name: str, promise: str, unit: Unit, shown: _Shown) -> dict[str, Any]:
    """What is used beyond a promise: a shape between the two for each stretch without a gap.

    A fill between two lines would go on across the gap.
    """
    corners: list[tuple[str | None, float | None]] = []
    for stretch in _stretches(shown, promise):
        upper = [(at, _in(unit, max(used, each))) for at, used, each in stretch]
        steps = [(at, _in(unit, each)) for (_, _, each), (at, _, _) in pairwise(stretch)]
        lower = [one for pair in zip(_promised(stretch, unit), [*steps, None], strict=True) for one in pair if one]
        corners += [*upper, *reversed(lower), (None, None)]
    line = _line("over", name, unit, shown)
    return {
        **line,
        "x": [at for at, _ in corners[:-1]],
        "y": [amount for _, amount in corners[:-1]],
        "fill": "toself",
        "hoverinfo": "skip",
    }


_Stretch = list[tuple[str, int, int]]
"""Times, each with what is used and what is promised then."""


def _stretches(shown: _Shown, promise: str) -> Iterator[_Stretch]:
    """The points one after the other, as long as none is missing and something is promised."""
    stretch: _Stretch = []
    for at, point in zip(shown.times, shown.points, strict=True):
        promised = None if point is None else getattr(point, promise)
        if point is not None and promised is not None:
            stretch.append((at, point.used, promised))
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _promised(stretch: _Stretch, unit: Unit) -> list[tuple[str, float | None]]:
    return [(at, _in(unit, each)) for at, _, each in stretch]


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


def _in(unit: Unit, value: int | None) -> float | None:
    return None if value is None else round(value / unit.size, 3)


def _top(unit: Unit, points: Sequence[Point]) -> float:
    """The top of the axis: what was used and promised, and max where it is not far above that."""
    used = max((max(p.highest, p.guaranteed or 0, p.deserved or 0) for p in points), default=0)
    limit = max((p.max or 0 for p in points), default=0)
    highest = limit if used <= limit <= 2 * used else used
    return 1.12 * (highest / unit.size) or 1.0


def _line(
    kind: str,
    name: str,
    unit: Unit,
    shown: _Shown,
    *,
    shape: str = "linear",
    dash: str = "solid",
    text: list[str] | None = None,
) -> dict[str, Any]:
    shows = attrgetter(_FIELDS.get(kind, kind))
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "meta": kind,
        "name": name,
        "x": shown.times,
        "y": [None if point is None else _in(unit, shows(point)) for point in shown.points],
        "line": {
            "shape": shape,
            "dash": dash,
            "width": {"used": 2, "guaranteed": 2, "deserved": 2, "over": 0, "highest": 1}.get(kind, 1.5),
        },
        "hovertemplate": "%{y:.1f}",
    }
    return trace | ({"text": text, "hovertemplate": "%{text}"} if text else {})


def _marks(kind: str, unit: Unit, points: Sequence[Point], marks: Sequence[Mark]) -> dict[str, Any]:
    shown = [mark for mark in marks if mark.out == (kind == "out")]
    used = UsedAt(points)
    return {
        "type": "scatter",
        "mode": "markers",
        "meta": kind,
        "name": _("pods preempted from this queue") if kind == "out" else _("pods preempted for this queue"),
        "x": [_iso(mark.at) for mark in shown],
        "y": [_in(unit, used.at(mark.at)) for mark in shown],
        "text": [mark.text for mark in shown],
        "customdata": [mark.url for mark in shown],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": "triangle-down" if kind == "out" else "triangle-up", "size": 11, "line": {"width": 1.5}},
        "cliponaxis": False,
    }


class UsedAt:
    """What was used at a time, by the point that is nearest to it, of two as near the earlier one."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points, self._times = points, [point.at for point in points]

    def at(self, time: datetime) -> int:
        """Nothing where there are no points."""
        place = bisect_left(self._times, time)
        near = self._points[max(0, place - 1) : place + 1]
        return min(near, key=lambda point: abs(point.at - time)).used if near else 0


def _layout(unit: Unit, since: datetime, until: datetime, top: float) -> dict[str, Any]:
    return {
        "height": 320,
        "margin": {"l": 52, "r": 8, "t": 8, "b": 44},
        "showlegend": False,
        "hovermode": "x unified",
        "dragmode": "zoom",
        "xaxis": {"type": "date", "range": [_iso(since), _iso(until)], "fixedrange": False},
        "yaxis": {
            "range": [0, top],
            "ticksuffix": f" {unit.name}" if unit.name else "",
            "fixedrange": True,
            "nticks": 6,
        },
    }
