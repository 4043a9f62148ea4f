"""The timeline of the history as numbers for an inline SVG: x in per cent, y in pixels, no style attributes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from engine.explain import Message, label
from engine.model.message import short_name
from scheduler_admin.core.translation import text
from scheduler_admin.counts.selectors.timeline import REST, Timeline
from scheduler_admin.decisions.models import Decision
from scheduler_admin.queues.models import Revision

_TOP, _BASE = 16.0, 164.0
_GAP = 1.5
_LINES = 4
_LABELS = 8
TITLES: dict[timedelta, str] = {
    timedelta(minutes=1): gettext_noop("Pods preempted per minute"),
    timedelta(minutes=5): gettext_noop("Pods preempted per 5 minutes"),
    timedelta(hours=1): gettext_noop("Pods preempted per hour"),
    timedelta(hours=6): gettext_noop("Pods preempted per 6 hours"),
    timedelta(days=1): gettext_noop("Pods preempted per day"),
    timedelta(days=7): gettext_noop("Pods preempted per week"),
}
"""One for every width that history.timeline chooses from."""
_AXES = {"time": "%H:%M", "day": "%d %b", "month": "%b %Y"}
"""As it is until a script writes it in the viewer's zone."""


@dataclass(frozen=True)
class Block:
    """A part of a bar."""

    series: str
    x: str
    y: str
    width: str
    height: str
    title: str


@dataclass(frozen=True)
class Line:
    """A line across, with what it says."""

    at: str
    text: str


@dataclass(frozen=True)
class Label:
    """A time below the bars; the browser writes it in the viewer's zone."""

    x: str
    at: str
    text: str
    narrow: bool
    """Whether it still shows on a narrow screen."""


@dataclass(frozen=True)
class Key:
    """What a fill stands for, and how many pods it is in all."""

    series: str
    name: str
    pods: int


@dataclass(frozen=True)
class Chart:
    """All that the template draws."""

    title: str
    summary: str
    axis: str
    """How times below it are written: a key of _AXES."""
    blocks: list[Block]
    grid: list[Line]
    labels: list[Label]
    marks: list[Line]
    keys: list[Key]
    now_x: str
    now_width: str


def chart(timeline: Timeline, revisions: Iterable[Revision], stack: str, *, running: bool) -> Chart:
    """Place everything; ``running``: the last bucket is not over yet."""
    step = 100 / len(timeline.buckets)
    top, unit = _scale(timeline.highest.total)
    names = [name for name, _pods in timeline.series]
    return Chart(
        title=_(TITLES[timeline.width]),
        summary=_summary(timeline),
        axis=_axis(timeline.width),
        blocks=_blocks(timeline, names, top, step, stack),
        grid=[Line(f"{_height(value, top):.1f}", str(value)) for value in range(0, top + 1, unit)],
        labels=_labels(timeline, step),
        marks=_marks(timeline, revisions),
        keys=[
            Key(f"s{index + 1}", series_name(name, stack), pods) for index, (name, pods) in enumerate(timeline.series)
        ],
        now_x=f"{100 - step:.2f}%" if running else "",
        now_width=f"{step:.2f}%",
    )


def series_name(name: str, stack: str) -> str:
    """What a series is called."""
    if name == REST:
        return _("other")
    if stack == "reason":
        return text(label(name))
    if stack == "source":
        return str(dict(Decision.Source.choices).get(name, name))
    return short_name(name)


def _scale(highest: int) -> tuple[int, int]:
    """The number at the top and the step between lines: 1, 2 or 5 times a power of ten."""
    wanted = max(highest, 1)
    unit = next(digit * 10**power for power in range(12) for digit in (1, 2, 5) if wanted <= _LINES * digit * 10**power)
    return -(-wanted // unit) * unit, unit


def _height(value: float, top: int) -> float:
    return _BASE - (_BASE - _TOP) * value / top


def _blocks(timeline: Timeline, names: list[str], top: int, step: float, stack: str) -> list[Block]:
    found = []
    for index, bucket in enumerate(timeline.buckets):
        below = 0
        for place, name in enumerate(names):
            pods = bucket.pods.get(name, 0)
            if not pods:
                continue
            y, base = _height(below + pods, top), _height(below, top)
            below += pods
            found.append(
                Block(
                    series=f"s{place + 1}",
                    x=f"{index * step + step * 0.14:.2f}%",
                    y=f"{y + _GAP / 2:.1f}",
                    width=f"{step * 0.72:.2f}%",
                    height=f"{max(1.0, base - y - _GAP):.1f}",
                    title=_said(bucket.start, series_name(name, stack), pods),
                )
            )
    return found


def _said(start: datetime, name: str, pods: int) -> str:
    message = Message(
        "%(time)s UTC, %(name)s: %(pods)s", {"time": f"{start:%Y-%m-%d %H:%M}", "name": name, "pods": str(pods)}
    )
    return text(message)


def _summary(timeline: Timeline) -> str:
    highest = timeline.highest
    if not highest.total:
        return _("No pods were preempted in this period.")
    return ngettext(
        "Peak: %(n)s pod in the interval that starts at %(time)s UTC.",
        "Peak: %(n)s pods in the interval that starts at %(time)s UTC.",
        highest.total,
    ) % {"n": highest.total, "time": f"{highest.start:%Y-%m-%d %H:%M}"}


def _labels(timeline: Timeline, step: float) -> list[Label]:
    axis = _axis(timeline.width)
    every = max(1, -(-len(timeline.buckets) // _LABELS))
    if axis == "day" and timeline.width < timedelta(days=1):
        every = max(1, round(timedelta(days=1) / timeline.width))
    chosen = [index for index, bucket in enumerate(timeline.buckets) if _round(bucket.start, timeline.width, every)]
    return [
        Label(
            x=f"{index * step:.2f}%",
            at=timeline.buckets[index].start.isoformat(),
            text=f"{timeline.buckets[index].start:{_AXES[axis]}}",
            narrow=place % 2 == 0 and index * step <= 84,  # noqa: PLR2004 - the same, where a label is wider
        )
        for place, index in enumerate(chosen)
        if index * step <= 96  # noqa: PLR2004 - later ones would run over the edge
    ]


def _axis(width: timedelta) -> str:
    if width < timedelta(hours=6):
        return "time"
    return "day" if width < timedelta(days=7) else "month"


def _round(start: datetime, width: timedelta, every: int) -> bool:
    """Whether a label stands here: on multiples of its own distance, so that labels stay while time moves on."""
    return (start - datetime(1970, 1, 1, tzinfo=UTC)) // width % every == 0


def _marks(timeline: Timeline, revisions: Iterable[Revision]) -> list[Line]:
    span = timeline.end - timeline.start
    return [
        Line(
            f"{100 * ((revision.published_at - timeline.start) / span):.2f}%",
            _("revision %(number)s") % {"number": revision.number},
        )
        for revision in revisions
        if timeline.start <= revision.published_at < timeline.end
    ]
