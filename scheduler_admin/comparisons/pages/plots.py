"""The course of a comparison as a figure for plotly: a line a side, each with a dash of its own."""

from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _

from engine.planning.comparison import WHOLE, CoursePoint, SideFigures
from scheduler_admin.comparisons.columns import columns
from scheduler_admin.comparisons.models import Comparison

PLOTS = ("preempted", "waiting", "short", "jain")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")


def plot_name(what: str) -> str:
    """What a plot shows."""
    return {
        "preempted": _("pods preempted so far"),
        "waiting": _("pending pods"),
        "short": _("queues below their guarantee"),
        "jain": _("fairness"),
    }[what]


def course_figure(comparison: Comparison, what: str) -> dict[str, Any]:
    """One of PLOTS."""
    named = columns(comparison)
    data = [_line(place, name, one, what) for place, (name, one) in enumerate(named)]
    times = [time for line in data for time in (line["x"][:1] + line["x"][-1:])]
    highest = max((value for line in data for value in line["y"] if value is not None), default=0)
    return {"data": data, "layout": _layout(min(times, default=""), max(times, default=""), highest, what)}


def _line(place: int, name: str, one: SideFigures, what: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "meta": f"side-{place + 1}",
        "name": name,
        "x": [_iso(point.at_ms) for point in one.course],
        "y": [_value(point, what) for point in one.course],
        "line": {"shape": "hv", "dash": DASHES[place % len(DASHES)], "width": 2},
        "hovertemplate": "%{y}",
    }


def _value(point: CoursePoint, what: str) -> float | None:
    value: int | None = getattr(point, what)
    return value / WHOLE if what == "jain" and value is not None else value


def _iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")


def _layout(since: str, until: str, highest: float, what: str) -> dict[str, Any]:
    return {
        "height": 320,
        "margin": {"l": 52, "r": 8, "t": 8, "b": 44},
        "showlegend": False,
        "hovermode": "x unified",
        "dragmode": "zoom",
        "xaxis": {"type": "date", "range": [since, until], "fixedrange": False},
        "yaxis": {"range": [0, 1.05 if what == "jain" else 1.12 * highest or 1], "fixedrange": True, "nticks": 6},
    }
