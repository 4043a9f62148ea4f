"""Bars of usage against guarantee and max, and sparklines, as inline SVG without a single style attribute.

x is in per cent and y in pixels, without a viewBox: nothing is distorted at any width. Bars are of our own words and
numbers alone, so nothing in them is escaped: a page of 1,000 queues has thousands.
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
    width = _percent(end - start)
    return SafeString(f'<rect class="{kind}" x="{_percent(start)}" y="{top}" width="{width}" height="{_HIGH}"/>')


def _line(kind: str, at: float, start: int, end: int) -> SafeString:
    x = _percent(at)
    return SafeString(f'<line class="{kind}" x1="{x}" x2="{x}" y1="{start}" y2="{end}"/>')


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


def bar(used: int, guaranteed: int | None, limit: int | None, reserved: int | None = None) -> SafeString:
    """One bar: used up to the guarantee, what is over it or short of it, the track up to max.

    Where shares are divided, what the queue deserves stands for the guarantee, and ``reserved`` has a mark of its own.
    The numbers stand beside it as text, so it is hidden from assistive technology.
    """
    scale = _scale(used, guaranteed, limit)
    entitled = guaranteed or 0
    share, promised = min(1.0, used / scale), min(1.0, entitled / scale)
    return _drawn(
        _rect("track", 0, 1.0 if limit is None else min(1.0, limit / scale)),
        _rect("use", 0, min(share, promised)),
        _rect("over", promised, share),
        _rect("gap", share, promised),
        _end(scale, limit, 14),
        _line("rs", min(1.0, reserved / scale), 2, 12) if reserved else "",
        _line("d" if reserved is not None else "g", promised, 0, 14) if entitled else "",
    )


def _drawn(*parts: str) -> SafeString:
    return SafeString(f'<svg class="bar" aria-hidden="true">{"".join(parts)}</svg>')


def share_bar(used: int, guaranteed: int, capacity: int) -> SafeString:
    """A cluster's bar: the scale is its capacity, the line what is guaranteed."""
    scale = max(capacity, used, guaranteed, 1)
    return _drawn(
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
