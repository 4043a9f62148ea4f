"""Arrows from asker to victim by what happened."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from scheduler_admin.fences.between import Flow
from scheduler_admin.fences.drawing import paths
from scheduler_admin.fences.drawing.labels import Label, Labels
from scheduler_admin.fences.drawing.layout import Box
from scheduler_admin.fences.drawing.routes import Plot, routes
from scheduler_admin.fences.scene import Scene

MOST_ARROWS = 12
"""So many are drawn: those of the chosen queue first, then those of the most pods."""
_FEW_BOXES = 12
_WIDEST, _WIDEST_OF_MANY, _THINNEST = 9.0, 6.0, 1.5
_MANY = 25
"""So many pods make the widest arrow, where no other has more."""


@dataclass(frozen=True)
class Arrow:
    """An arrow as two paths, shaft and head, with its count. ``own``: for the chosen queue; ``odd``: a shut border."""

    shaft: str
    head: str
    width: float
    count: Label
    own: bool
    odd: bool
    title: str


@dataclass(frozen=True)
class LeftOut:
    """What has no arrow: pods between so many ``pairs`` of boxes, pods that went ``within`` one box, or ``elsewhere``.

    Elsewhere: the map shows only a part of the tree, which does not hold both.
    """

    pairs: int
    pods: int
    within: int
    elsewhere: int


@dataclass(frozen=True)
class Traffic:
    """Pods that went between single boxes, each pair by its places; what went ``within`` one box has no arrow."""

    pods: Counter[tuple[int, int]]
    odd: set[tuple[int, int]]
    within: int = 0

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(self.pods + other.pods, self.odd | other.odd, self.within + other.within)

    def left_out(self, drawn: Collection[tuple[int, int]], total: int) -> LeftOut:
        """All but the pairs that are drawn, of so many pods in all."""
        between = sum(self.pods.values())
        pods = between - sum(self.pods[pair] for pair in drawn)
        return LeftOut(len(self.pods) - len(drawn), pods, self.within, total - between - self.within)

    def ranked(self, own: set[int]) -> list[tuple[int, int]]:
        """The pairs to draw."""
        return sorted(self.pods, key=lambda pair: (own.isdisjoint(pair), -self.pods[pair], pair))[:MOST_ARROWS]


def traffic(scene: Scene, boxes: Sequence[Box]) -> Traffic:
    """What happened between the single boxes of a map."""
    homes = tuple(tuple(box.drawn.leaves) for box in boxes)
    together = Traffic(Counter(), set())
    for flow in scene.between.flows:
        together += flow.once(homes, partial(_traffic, flow, homes))
    return together


def _traffic(flow: Flow, homes: Sequence[Sequence[str]]) -> Traffic:
    home = {leaf: place for place, leaves in enumerate(homes) for leaf in leaves}
    between, odd, within = Counter[tuple[int, int]](), set(), 0
    for asker in flow.victims.keys() & home.keys():
        start = home[asker]
        for victim, pods in flow.victims[asker].items():
            end = home.get(victim)
            if end == start:
                within += pods
            elif end is not None:
                between[start, end] += pods
                if (asker, victim) in flow.odd_ones:
                    odd.add((start, end))
    return Traffic(between, odd, within)


def arrows(scene: Scene, boxes: Sequence[Box], plot: Plot) -> tuple[list[Arrow], LeftOut]:
    """The arrows between the single boxes of a map, and what is left out."""
    happened = traffic(scene, boxes)
    own = {place for place, box in enumerate(boxes) if scene.is_inside(box.drawn)}
    ranked = happened.ranked(own)
    ways = routes(plot, tuple((plot.singles[asker], plot.singles[victim]) for asker, victim in ranked))
    labels = Labels(plot, ways)
    most = max([*happened.pods.values(), _MANY])
    widest = _WIDEST if len(boxes) <= _FEW_BOXES else _WIDEST_OF_MANY
    drawn = {}
    for pair, way in zip(ranked, ways, strict=True):
        if way:
            pods, odd = happened.pods[pair], pair in happened.odd
            thick = round(max(_THINNEST, widest * math.sqrt(pods / most)), 1)
            count = labels.place(way, thick, _("%(n)s, closed border") % {"n": pods} if odd else str(pods))
            title = _title(scene, boxes[pair[0]], boxes[pair[1]], pods)
            drawn[pair] = Arrow(*paths.arrow(way, thick), thick, count, pair[0] in own, odd, title)
    return list(drawn.values()), happened.left_out(drawn, scene.between.inside)


def _title(scene: Scene, asker: Box, victim: Box, pods: int) -> str:
    said = ngettext(
        "%(n)s pod of %(victim)s was preempted for pods of %(asker)s",
        "%(n)s pods of %(victim)s were preempted for pods of %(asker)s",
        pods,
    )
    return said % {"n": pods, "asker": scene.name(asker.drawn.path), "victim": scene.name(victim.drawn.path)}
