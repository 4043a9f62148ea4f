"""How arrows run between the boxes of a map: through the gaps, with few bends, apart from each other.

The shortest way over a grid of cells, found by A*: straight on is cheap, a bend is dear, a lane that another arrow runs
in is dearer, and boxes are no way at all. The same boxes and pairs give the same routes, so they are kept.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise, product

from scheduler_admin.fences.drawing.layout import CELL

Cell = tuple[int, int]
"""A column and a row of the grid."""
Step = tuple[int, int]
Rect = tuple[int, int, int, int]
"""x, y, width, height in pixels."""
Point = tuple[float, float]

_STEPS: tuple[Step, ...] = ((0, -1), (1, 0), (0, 1), (-1, 0))
_EAGER = 1.2
_BEND, _TAKEN, _BESIDE, _CROSSING, _BORDER, _TEXT, _OFF_CENTRE = 5.0, 60.0, 3.0, 4.0, 10.0, 8.0, 0.35
_HUGGING, _LATE = 0.8, 12.0
"""Of running along a box, and of a bend right before the end, where the arrow head would have no room."""
_TURNS = {
    step: [
        (turned, *((0.0, 0.0) if turned == step else (_BEND, _LATE)))
        for turned in _STEPS
        if turned != (-step[0], -step[1])
    ]
    for step in _STEPS
}
"""Step -> those that may follow it, each with what its bend costs, and what that costs more at the end."""


@dataclass
class _Ground:
    """Where a route may run, what it should go around, and where others run already."""

    alone: dict[Cell, float]
    """Cell -> what it costs to enter it where nothing else is; cells of boxes are none."""
    parent: dict[Cell, int]
    """Cell -> the innermost parent's box that holds it: a route that crosses its border goes in or out."""
    sideways: set[Cell] = field(default_factory=set)
    """Cells through which others run from side to side."""
    upright: set[Cell] = field(default_factory=set)
    """Cells through which others run up or down."""

    def cost(self, cell: Cell, step: Step) -> float:
        """Of entering a cell by a step."""
        (x, y), (across, down) = cell, step
        found = self.alone[cell]
        if self.parent.get(cell) != self.parent.get((x - across, y - down)):
            found += _BORDER
        along, crossing = (self.upright, self.sideways) if down else (self.sideways, self.upright)
        if cell in along:
            found += _TAKEN
        elif cell in crossing:
            found += _CROSSING
        # The cells on both sides: a step down, turned by a right angle, is one across.
        if (x - down, y - across) in along:
            found += _BESIDE
        if (x + down, y + across) in along:
            found += _BESIDE
        return found

    def take(self, way: Iterable[tuple[Cell, Step]]) -> None:
        """Others keep off a way from now on."""
        for cell, (across, _down) in way:
            (self.sideways if across else self.upright).add(cell)


@dataclass(frozen=True)
class Plot:
    """What stands on a map: the single boxes, the parents' from the outermost to the innermost, and texts."""

    size: tuple[int, int]
    singles: tuple[Rect, ...]
    parents: tuple[Rect, ...]
    texts: tuple[Rect, ...]


@lru_cache(maxsize=128)
def routes(plot: Plot, pairs: tuple[tuple[Rect, Rect], ...]) -> tuple[tuple[Point, ...], ...]:
    """The bends of an arrow for each pair of boxes, from the edge of the one to that of the other, in pixels.

    Earlier pairs choose their way first. Empty where there is no way at all.
    """
    solid = {cell for rect in plot.singles for cell in _cells(rect)}
    soft = {cell for rect in plot.texts for cell in _cells(rect)}
    near = {cell for rect in plot.singles for cell in _cells(_wider(rect))}
    alone = {
        cell: 1.0 + (_TEXT if cell in soft else 0) + (_HUGGING if cell in near else 0)
        for cell in product(range(plot.size[0] // CELL), range(plot.size[1] // CELL))
        if cell not in solid
    }
    ground = _Ground(alone, {cell: place for place, rect in enumerate(plot.parents) for cell in _cells(rect)})
    return tuple(_route(ground, start, end) for start, end in pairs)


def _cells(rect: Rect) -> Iterator[Cell]:
    x, y, w, h = rect
    for column in range(x // CELL, (x + w - 1) // CELL + 1):
        for row in range(y // CELL, (y + h - 1) // CELL + 1):
            yield column, row


def _wider(rect: Rect) -> Rect:
    return rect[0] - CELL, rect[1] - CELL, rect[2] + 2 * CELL, rect[3] + 2 * CELL


def _ports(rect: Rect) -> Iterator[tuple[Cell, Step, float]]:
    """The cells around a box but for its corners, the step that leads away from it, and how far off the middle."""
    left, top = rect[0] // CELL, rect[1] // CELL
    columns, rows = rect[2] // CELL, rect[3] // CELL
    for column in range(left + 1, left + columns - 1):
        off = abs(column - left - (columns - 1) / 2) * _OFF_CENTRE
        yield (column, top - 1), (0, -1), off
        yield (column, top + rows), (0, 1), off
    for row in range(top + 1, top + rows - 1):
        off = abs(row - top - (rows - 1) / 2) * _OFF_CENTRE
        yield (left - 1, row), (-1, 0), off
        yield (left + columns, row), (1, 0), off


def _route(ground: _Ground, start: Rect, end: Rect) -> tuple[Point, ...]:
    starts = [port for port in _ports(start) if port[0] in ground.alone]
    ends = {(cell, (-step[0], -step[1])): off for cell, step, off in _ports(end) if cell in ground.alone}
    way = _way(ground, starts, ends, end)
    ground.take(way)
    return _bends(way)


def _way(
    ground: _Ground, starts: Iterable[tuple[Cell, Step, float]], ends: dict[tuple[Cell, Step], float], goal: Rect
) -> list[tuple[Cell, Step]]:
    """The cheapest cells from a start to an end, each with the step that enters it; the last with that which leaves."""
    far = _far(goal)
    queue: list[tuple[float, float, Cell, Step, tuple[Cell, Step] | None]] = []
    for cell, step, off in starts:
        spent = off + ground.cost(cell, step)
        heappush(queue, (spent + far(cell), spent, cell, step, None))
    came: dict[tuple[Cell, Step], tuple[Cell, Step] | None] = {}
    found: tuple[float, tuple[Cell, Step] | None] = (float("inf"), None)
    while queue and queue[0][0] < found[0]:
        _guess, spent, cell, step, before = heappop(queue)
        if (cell, step) in came:
            continue
        came[cell, step] = before
        for turned, bend, late in _TURNS[step]:
            leaving = ends.get((cell, turned))
            if leaving is not None and (total := spent + bend + late + leaving) < found[0]:
                found = (total, (cell, step))
                last = turned
            onwards = (cell[0] + turned[0], cell[1] + turned[1])
            if onwards in ground.alone and (onwards, turned) not in came:
                cost = spent + bend + ground.cost(onwards, turned)
                heappush(queue, (cost + far(onwards), cost, onwards, turned, (cell, step)))
    way: list[tuple[Cell, Step]] = []
    at = found[1]
    while at is not None:
        way.append(at)
        at = came[at]
    return [*way[::-1], (way[0][0], last)] if way else []


def _far(goal: Rect) -> Callable[[Cell], float]:
    """About what is left to go; a little more than the least there may be, so that the search runs straight for it."""
    left, top, w, h = (value // CELL for value in goal)
    right, bottom = left + w - 1, top + h - 1

    def far(cell: Cell) -> float:
        x, y = cell
        across = left - x if x < left else x - right if x > right else 0
        down = top - y if y < top else y - bottom if y > bottom else 0
        return _EAGER * (across + down)

    return far


def _bends(way: Sequence[tuple[Cell, Step]]) -> tuple[Point, ...]:
    """The points where a way begins, bends and ends: it begins and ends on the edges of the two boxes."""
    if not way:
        return ()
    half = CELL / 2
    (cell, step), (final, leaving) = way[0], way[-1]

    def middle(of: Cell) -> Point:
        return of[0] * CELL + half, of[1] * CELL + half

    points = [_moved(middle(cell), step, -half)]
    for (here, entered), (_, left) in pairwise(way):
        if entered != left:
            points.append(middle(here))
    return (*points, _moved(middle(final), leaving, half))


def _moved(point: Point, step: Step, by: float) -> Point:
    return point[0] + step[0] * by, point[1] + step[1] * by
