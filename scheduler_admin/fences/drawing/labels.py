"""Where the count of an arrow stands: beside it, where it covers the least."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from scheduler_admin.fences.drawing.routes import Plot, Point, Rect
from scheduler_admin.fences.drawing.text_widths import width

SIZE = 12
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Label:
    """A text at its baseline; ``anchor``: which of its ends is at x."""

    x: float
    y: float
    anchor: Anchor
    text: str

    @property
    def covers(self) -> Rect:
        """The rectangle that it takes."""
        wide = round(width(self.text, SIZE, bold=True))
        left = {"start": 0.0, "middle": wide / 2, "end": float(wide)}[self.anchor]
        return round(self.x - left) - 2, round(self.y) - 11, wide + 4, 15


@dataclass
class Labels:
    """Places one label after the other; each keeps clear of boxes, borders, texts, lines and the labels before it."""

    plot: Plot
    ways: Sequence[Sequence[Point]]
    placed: list[Rect] = field(default_factory=list)

    def place(self, way: Sequence[Point], thick: float, text: str) -> Label:
        """Beside a way of at least two points, rather at the middle of a long stretch."""
        others = [run for each in self.ways if each is not way for run in _runs(each)]
        borders = [side for rect in self.plot.parents for side in _sides(rect)]

        def price(option: tuple[float, Label]) -> float:
            rect = option[1].covers
            return (
                option[0]
                + (0 if self._inside(rect) else 100)
                + 40 * touched(rect, self.placed)
                + 30 * touched(rect, (*self.plot.singles, *self.plot.texts))
                + 6 * touched(rect, others)
                + 4 * touched(rect, borders)
            )

        best = min(_options(way, thick / 2 + 5, text), key=price)[1]
        self.placed.append(best.covers)
        return best

    def _inside(self, rect: Rect) -> bool:
        return (
            rect[0] >= 0 <= rect[1]
            and rect[0] + rect[2] <= self.plot.size[0]
            and rect[1] + rect[3] <= self.plot.size[1]
        )


def _options(way: Sequence[Point], off: float, text: str) -> Iterator[tuple[float, Label]]:
    """Where a label may stand, each with how far from ideal."""
    for (x0, y0), (x1, y1) in pairwise(way):
        for share in (0.5, 0.35, 0.65, 0.2, 0.8):
            x, y = x0 + (x1 - x0) * share, y0 + (y1 - y0) * share
            price = abs(share - 0.5) - math.dist((x0, y0), (x1, y1)) / 40
            if y0 == y1:
                yield price, Label(x, y - off, "middle", text)
                yield price + 0.1, Label(x, y + off + 9, "middle", text)
            else:
                yield price, Label(x + off, y + 4, "start", text)
                yield price + 0.1, Label(x - off, y + 4, "end", text)


def _runs(way: Sequence[Point]) -> Iterator[Rect]:
    for one, other in pairwise(way):
        x, y = min(one[0], other[0]), min(one[1], other[1])
        yield round(x) - 3, round(y) - 3, round(abs(one[0] - other[0])) + 6, round(abs(one[1] - other[1])) + 6


def _sides(rect: Rect) -> list[Rect]:
    x, y, w, h = rect
    return [(x, y - 3, w, 9), (x, y + h - 6, w, 9), (x - 3, y, 9, h), (x + w - 6, y, 9, h)]


def touched(rect: Rect, others: Iterable[Rect]) -> int:
    """How many of the others a rectangle overlaps."""
    x, y, w, h = rect
    return sum(x < ox + ow and ox < x + w and y < oy + oh and oy < y + h for ox, oy, ow, oh in others)
