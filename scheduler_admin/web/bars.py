"""Bars of usage against guarantee and max, and sparklines, as inline SVG without a single style attribute.

x is in per cent and y in pixels, without a viewBox: nothing is distorted at any width.
"""

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

_TOP, _HIGH = 4, 6


def _percent(part: float) -> str:
    return f"{100 * part:.2f}".rstrip("0").rstrip(".") + "%"


def _rect(kind: str, start: float, end: float, top: int = _TOP) -> SafeString:
    if end - start < 0.0005:  # noqa: PLR2004 - thinner than a pixel of any screen
        return SafeString("")
    return format_html(
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>',
        kind,
        _percent(start),
        top,
        _percent(end - start),
        _HIGH,
    )


def _line(kind: str, at: float, start: int, end: int) -> SafeString:
    return format_html(
        '<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>', kind, _percent(at), _percent(at), start, end
    )


def _scale(used: int, guaranteed: int | None, limit: int | None) -> float:
    """What the whole width stands for: twice the guarantee, so that it is the middle of every bar."""
    if guaranteed:
        return 2 * guaranteed
    return max(limit or 0, used, 1)


def _end(scale: float, limit: int | None, high: int) -> SafeString:
    """The tick at max; an arrow head where max lies beyond the edge; an open track where there is none."""
    if limit is None:
        return SafeString("")
    if limit <= scale:
        return _line("mx", limit / scale, 2, high - 2)
    return format_html(
        '<svg x="100%" y="{}" width="1" height="6" overflow="visible"><path class="more" d="M-5 0L0 3L-5 6Z"/></svg>',
        _TOP,
    )


def bar(used: int, guaranteed: int | None, limit: int | None) -> SafeString:
    """One bar: used up to the guarantee, what is over it or short of it, the track up to max.

    The numbers stand beside it as text, so it is hidden from assistive technology.
    """
    scale = _scale(used, guaranteed, limit)
    entitled = guaranteed or 0
    share, promised = min(1.0, used / scale), min(1.0, entitled / scale)
    return format_html(
        '<svg class="bar" aria-hidden="true">{}{}{}{}{}{}</svg>',
        _rect("track", 0, 1.0 if limit is None else min(1.0, limit / scale)),
        _rect("use", 0, min(share, promised)),
        _rect("over", promised, share),
        _rect("gap", share, promised),
        _end(scale, limit, 14),
        _line("g", promised, 0, 14) if entitled else "",
    )


def share_bar(used: int, guaranteed: int, capacity: int) -> SafeString:
    """A cluster's bar: the scale is its capacity, the line what is guaranteed."""
    scale = max(capacity, used, guaranteed, 1)
    return format_html(
        '<svg class="bar" aria-hidden="true">{}{}{}{}</svg>',
        _rect("track", 0, capacity / scale),
        _rect("use", 0, used / scale),
        _line("mx", capacity / scale, 2, 12),
        _line("g", guaranteed / scale, 0, 14) if guaranteed else "",
    )


def sparkline(counts: Sequence[int], label: str) -> SafeString:
    """One bar per count, the highest as high as the line allows, with its meaning as text."""
    high, step = 20, 5
    top = max(*counts, 1)
    bars = (
        (index * step, high - max(2, round(high * count / top)), max(2, round(high * count / top)))
        for index, count in enumerate(counts)
        if count
    )
    return format_html(
        '<svg class="spark" role="img" aria-label="{}" width="{}" height="{}">{}{}</svg>',
        label,
        step * len(counts),
        high + 1,
        format_html('<line x1="0" x2="{}" y1="{}" y2="{}"/>', step * len(counts) - 1, high + 0.5, high + 0.5),
        format_html_join("", '<rect x="{}" y="{}" width="4" height="{}"/>', bars),
    )
