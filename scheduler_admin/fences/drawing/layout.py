"""Where the boxes of a map are: nested rows, on a grid, so that arrows have lanes between them. Pure arithmetic.

A queue's children stand in rows, as even as they get. Beside parents, leaves without a fence come first, in rows of
their own: what reaches everything stands above what it reaches.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from scheduler_admin.fences.folding import Drawn

CELL = 12
"""Every edge is a multiple of this, in pixels; arrows run between the lines."""
WIDTH = 101 * CELL
WIDEST_LEAF = 22 * CELL
WIDEST_GAP = 9 * CELL
SIDE = 2 * CELL
HEAD = 3 * CELL
FOOT = 3 * CELL
_FEW = 12
_SHAPES = (4.0, 2.4, 1.4, 0.6, 0.2)
"""Parents' boxes are about so many times as wide as high: of these, what makes the lowest map."""


@dataclass(frozen=True)
class Box:
    """A box of the map, in pixels, with those inside it."""

    drawn: Drawn
    x: int
    y: int
    w: int
    h: int
    inside: tuple["Box", ...] = ()

    @property
    def right(self) -> int:
        """The x of its right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> int:
        """The y of its lower edge."""
        return self.y + self.h

    def walk(self) -> Iterator["Box"]:
        """Itself, then all inside it."""
        yield self
        for each in self.inside:
            yield from each.walk()


@dataclass
class _Plan:
    """A box with the least room it needs, before it is known how much there is."""

    drawn: Drawn
    w: int
    h: int
    widest: int
    rows: list[list["_Plan"]] = field(default_factory=list)


Natural = Callable[[Drawn], int]
"""How wide the texts of a single box are, in pixels."""


def layout(tops: Sequence[Drawn], natural: Natural, banded: Callable[[Drawn], bool]) -> list[Box]:
    """The boxes of ``tops``, each with those inside it, in a map of WIDTH pixels, or wider where they are very deep.

    ``banded``: which single boxes stand in rows of their own, above the others.
    """
    boxes = sum(1 for top in tops for _box in top.boxes())
    return min((_laid(tops, _Measures(natural, banded, shape, boxes)) for shape in _SHAPES), key=_height_of)


def extent(boxes: Sequence[Box]) -> tuple[int, int]:
    """How wide and high a map is, in pixels."""
    return max(WIDTH, *(box.right for box in boxes)), max(box.bottom for box in boxes)


def _height_of(boxes: Sequence[Box]) -> int:
    return extent(boxes)[1]


@dataclass(frozen=True)
class _Measures:
    """What the size of a box depends on. The fewer ``boxes`` there are, the roomier."""

    natural: Natural
    banded: Callable[[Drawn], bool]
    shape: float
    boxes: int

    @property
    def roomy(self) -> bool:
        """Whether there are few enough boxes for wide ones."""
        return self.boxes <= _FEW

    @property
    def gap(self) -> int:
        """Between boxes."""
        return (4 if self.roomy else 3) * CELL

    @property
    def leaf_width(self) -> int:
        """The least of a single box."""
        return (14 if self.roomy else 13) * CELL

    @property
    def leaf_height(self) -> int:
        """Of a single box."""
        return (10 if self.roomy else 9) * CELL


def _laid(tops: Sequence[Drawn], by: _Measures) -> list[Box]:
    if len(tops) == 1:
        plan = _plan(tops[0], by, WIDTH)
        return [_place(plan, 0, 0, max(WIDTH, plan.w), plan.h, by.gap)]
    rows = _rows([_plan(top, by, WIDTH - CELL) for top in tops], WIDTH, by.gap)
    wide = max(WIDTH, *(_width(row, by.gap) for row in rows))
    return list(_place_rows(rows, 0, 0, wide, _height(rows, by.gap), by.gap))


def _plan(drawn: Drawn, by: _Measures, most: int) -> _Plan:
    """The least room for a queue in a box that is at most so wide; only what has all of the map spreads out."""
    if not drawn.children:
        width = min(WIDEST_LEAF, max(by.leaf_width, _up(by.natural(drawn))))
        return _Plan(drawn, width, by.leaf_height, WIDTH if by.banded(drawn) else WIDEST_LEAF)
    room = most - 2 * SIDE
    plans = [_plan(child, by, room) for child in drawn.children]
    if most < WIDTH:
        area = sum((plan.w + by.gap) * (plan.h + by.gap) for plan in plans)
        room = min(room, max(_up(math.sqrt(area * by.shape)), *(plan.w for plan in plans)))
    mixed = any(child.children for child in drawn.children)
    first = [plan for plan in plans if mixed and by.banded(plan.drawn)]
    others = [plan for plan in plans if not (mixed and by.banded(plan.drawn))]
    rows = _rows(first, room, by.gap) + _rows(others, room, by.gap)
    width = max(_width(row, by.gap) for row in rows) + 2 * SIDE
    return _Plan(drawn, max(by.leaf_width, width), HEAD + _height(rows, by.gap) + FOOT, WIDTH, rows)


def _up(pixels: float) -> int:
    return math.ceil(pixels / CELL) * CELL


def _width(row: Sequence[_Plan], gap: int) -> int:
    return sum(plan.w for plan in row) + gap * (len(row) - 1)


def _height(rows: Sequence[Sequence[_Plan]], gap: int) -> int:
    return sum(max(plan.h for plan in row) for row in rows) + gap * (len(rows) - 1)


def _rows(plans: Sequence[_Plan], room: int, gap: int) -> list[list[_Plan]]:
    """As few rows as there is room for, and those as even as they get."""
    fewest = _filled(plans, room, gap)
    even = sum(plan.w for plan in plans) // max(1, len(fewest)) // CELL * CELL
    for narrower in range(even, room, CELL):
        rows = _filled(plans, narrower, gap)
        if len(rows) == len(fewest):
            return rows
    return fewest


def _filled(plans: Sequence[_Plan], room: int, gap: int) -> list[list[_Plan]]:
    rows: list[list[_Plan]] = []
    for plan in plans:
        if rows and _width([*rows[-1], plan], gap) <= room:
            rows[-1].append(plan)
        else:
            rows.append([plan])
    return rows


def _place(plan: _Plan, x: int, y: int, w: int, h: int, gap: int) -> Box:
    if not plan.rows:
        return Box(plan.drawn, x, y, w, h)
    inside = _place_rows(plan.rows, x + SIDE, y + HEAD, w - 2 * SIDE, h - HEAD - FOOT, gap)
    return Box(plan.drawn, x, y, w, h, tuple(inside))


def _place_rows(rows: Sequence[Sequence[_Plan]], x: int, y: int, w: int, h: int, gap: int) -> Iterator[Box]:
    """The rows one under the other; room that is left over goes to all of them alike."""
    spare = max(0, h - _height(rows, gap)) // len(rows) // CELL * CELL
    for row in rows:
        high = max(plan.h for plan in row) + spare
        yield from _place_row(row, x, y, w, high, gap)
        y += high + gap


def _place_row(row: Sequence[_Plan], x: int, y: int, w: int, h: int, gap: int) -> Iterator[Box]:
    """The boxes of a row side by side: room left over widens the gaps first, then the boxes as far as they go."""
    spare = max(0, w - _width(row, gap))
    between = gap
    if len(row) > 1:
        between += min(WIDEST_GAP - gap, spare // 3 // (len(row) - 1) // CELL * CELL)
        spare -= (between - gap) * (len(row) - 1)
    for place, plan in enumerate(row):
        share = spare // (len(row) - place) // CELL * CELL
        if len(row) > 1:
            share = min(share, max(0, plan.widest - plan.w))
        spare -= share
        yield _place(plan, x, y, plan.w + share, h, gap)
        x += plan.w + share + between
