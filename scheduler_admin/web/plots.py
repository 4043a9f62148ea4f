"""Figures for plotly, as plain dicts: importing plotly here would cost every worker its memory.

Colours are not chosen here. A trace says in ``meta`` what it is, and the page's module paints it from the
stylesheet, so that light and dark follow at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _

from scheduler_admin.history.usage_selectors import Point, Series
from scheduler_admin.web.words import Unit, amount_text


@dataclass(frozen=True)
class Mark:
    """A preemption on the plot: into or out of the queue, with the page of its decision."""

    at: datetime
    text: str
    url: str
    out: bool


def usage_figure(series: Series, marks: Sequence[Mark], since: datetime, until: datetime) -> dict[str, Any]:
    """Usage with guarantee and max as lines, what is over the guarantee filled, preemptions as marks."""
    points = series.points
    values = [v for p in points for v in (p.used, p.guaranteed, p.max) if v is not None]
    unit = Unit.of(series.resource, values)
    times = [_iso(point.at) for point in points]
    data = [
        _line("guaranteed", _("guaranteed"), times, [_in(unit, p.guaranteed) for p in points], shape="hv"),
        {
            **_line("over", _("above the guarantee"), times, [_over(unit, p) for p in points]),
            "fill": "tonexty",
            "hoverinfo": "skip",
        },
        _line("max", _("max"), times, [_in(unit, p.max) for p in points], shape="hv", dash="dot"),
        _line("used", _("used"), times, [_in(unit, p.used) for p in points], text=_texts(series)),
        *(_marks(kind, unit, points, marks) for kind in ("in", "out")),
    ]
    return {"data": data, "layout": _layout(unit, since, until, _top(unit, points))}


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


def _in(unit: Unit, value: int | None) -> float | None:
    return None if value is None else round(value / unit.size, 3)


def _over(unit: Unit, point: Point) -> float | None:
    return None if point.guaranteed is None else _in(unit, max(point.used, point.guaranteed))


def _texts(series: Series) -> list[str]:
    return [amount_text(series.resource, point.used) for point in series.points]


def _top(unit: Unit, points: Sequence[Point]) -> float:
    """The top of the axis: what was used and promised, and max where it is not far above that."""
    used = max((max(p.used, p.guaranteed or 0) for p in points), default=0)
    limit = max((p.max or 0 for p in points), default=0)
    highest = limit if used <= limit <= 2 * used else used
    return 1.12 * (highest / unit.size) or 1.0


def _line(
    kind: str,
    name: str,
    x: list[str],
    y: list[float | None],
    *,
    shape: str = "linear",
    dash: str = "solid",
    text: list[str] | None = None,
) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "meta": kind,
        "name": name,
        "x": x,
        "y": y,
        "line": {"shape": shape, "dash": dash, "width": {"used": 2, "guaranteed": 2, "over": 0}.get(kind, 1.5)},
        "hovertemplate": "%{y:.1f}",
    }
    return trace | ({"text": text, "hovertemplate": "%{text}"} if text else {})


def _marks(kind: str, unit: Unit, points: Sequence[Point], marks: Sequence[Mark]) -> dict[str, Any]:
    shown = [mark for mark in marks if mark.out == (kind == "out")]
    return {
        "type": "scatter",
        "mode": "markers",
        "meta": kind,
        "name": _("preempted out of it") if kind == "out" else _("preempted for it"),
        "x": [_iso(mark.at) for mark in shown],
        "y": [_in(unit, _used_at(points, mark.at)) for mark in shown],
        "text": [mark.text for mark in shown],
        "customdata": [mark.url for mark in shown],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": "triangle-down" if kind == "out" else "triangle-up", "size": 11, "line": {"width": 1.5}},
        "cliponaxis": False,
    }


def _used_at(points: Sequence[Point], at: datetime) -> int:
    return min(points, key=lambda point: abs(point.at - at)).used if points else 0


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
