"""Lines and arrow heads as SVG paths."""

import math
from collections.abc import Sequence

from scheduler_admin.fences.drawing.routes import Point

_CORNER = 6.0


def line(points: Sequence[Point]) -> str:
    """A line through the points with its corners rounded."""
    parts = [f"M{_at(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(_CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        parts.append(f"L{_at(_towards(corner, before, radius))}Q{_at(corner)} {_at(_towards(corner, after, radius))}")
    return "".join([*parts, f"L{_at(points[-1])}"])


def arrow(way: Sequence[Point], thick: float) -> tuple[str, str]:
    """Shaft and head of an arrow along a way: the head is the end of the last stretch."""
    tip = way[-1]
    neck = _towards(tip, way[-2], min(math.dist(way[-2], tip), 9 + thick))
    half = (4 + thick / 2) / (math.dist(neck, tip) or 1)
    across = (tip[1] - neck[1]) * half, (neck[0] - tip[0]) * half
    sides = [(neck[0] + sign * across[0], neck[1] + sign * across[1]) for sign in (1, -1)]
    return line([*way[:-1], neck]), f"M{_at(tip)}L{_at(sides[0])}L{_at(sides[1])}Z"


def _towards(start: Point, end: Point, by: float) -> Point:
    share = by / (math.dist(start, end) or 1)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _at(point: Point) -> str:
    return f"{point[0]:.5g} {point[1]:.5g}"
