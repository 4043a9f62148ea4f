"""What a fence stops: a dotted line from the chosen queue that ends at its fence in a bar."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.translation import gettext as _

from scheduler_admin.fences.drawing import paths
from scheduler_admin.fences.drawing.labels import Label, Labels, touched
from scheduler_admin.fences.drawing.layout import CELL, Box
from scheduler_admin.fences.drawing.routes import Plot, Point, Rect, routes
from scheduler_admin.fences.scene import Scene

_BEFORE = 7
"""The bar stands so far before the fence, in pixels."""
_UNSAID = 6 * CELL
"""A way may be so much longer, in pixels, to have room for what is said beside it."""


@dataclass(frozen=True)
class Stop:
    """The dotted line, the bar and what is said beside them."""

    line: str
    bar: str
    said: Label | None
    """None where there is no room for it."""


def stop(scene: Scene, boxes: Sequence[Box], plot: Plot) -> Stop | None:
    """From the chosen queue to the nearest side of the fence around it, None where no fence that is drawn holds it."""
    fence = scene.fence(scene.chosen) if scene.chosen else None
    by_path = {box.drawn.path: box for box in boxes if not box.drawn.rest}
    if fence not in by_path or scene.chosen not in by_path:
        return None
    own, around = by_path[scene.chosen], by_path[fence]
    if own is around:
        return None if own.inside else _at_its_own(own)
    tries = (routes(plot, ((_rect(own), side),))[0] for side in _sides(around))
    found = [(_length(way), _drawn(way, plot)) for way in tries if way]
    return min(found, key=lambda each: each[0] + (0 if each[1].said else _UNSAID))[1] if found else None


def _drawn(way: Sequence[Point], plot: Plot) -> Stop:
    (x0, y0), (x1, y1) = way[-2], way[-1]
    upright = x0 == x1
    back = -_BEFORE if (y1 > y0 or x1 > x0) else _BEFORE
    end = (x1, y1 + back) if upright else (x1 + back, y1)
    bar = f"M{end[0] - 10} {end[1]}h20" if upright else f"M{end[0]} {end[1] - 10}v20"
    kept = [*way[:-1], end]
    said = Labels(plot, []).place(kept, 10, _("blocked here"))
    return Stop(paths.line(kept), bar, None if touched(said.covers, (*plot.singles, *plot.texts)) else said)


def _at_its_own(box: Box) -> Stop:
    """A leaf fence stops its asks inside its own box."""
    x, y = box.right - 20, box.bottom - 44
    bar = f"M{x} {y - 9}v18"
    return Stop(f"M{x - 40} {y}H{x}", bar, Label(x, y + 24, "end", _("blocked here")))


def _length(way: Sequence[Point]) -> float:
    """With every bend as much as some cells."""
    return sum(math.dist(*ends) for ends in pairwise(way)) + 3 * CELL * len(way)


def _rect(box: Box) -> Rect:
    return box.x, box.y, box.w, box.h


def _sides(box: Box) -> list[Rect]:
    """The strips along the outer sides of a box: a way to one of them ends at the fence from within."""
    return [
        (box.x, box.y - CELL, box.w, CELL),
        (box.x, box.bottom, box.w, CELL),
        (box.x - CELL, box.y, CELL, box.h),
        (box.right, box.y, CELL, box.h),
    ]
