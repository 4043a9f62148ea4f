"""Every asker with every victim, as a table; of many leaves only the chosen queue's row and column."""

from dataclasses import dataclass

from django.http import QueryDict

from engine.explain import Message, border_label
from engine.tree.reach import BorderReason
from scheduler_admin.core.paging import Paged, numbered
from scheduler_admin.fences.scene import MOST_PAIRS, Scene

MOST_LINES = 2_000
"""Of so many leaves all lines are on one page."""


@dataclass(frozen=True)
class Cell:
    """One asker and victim. ``kind``: ``self``, ``open`` with its pods, ``shut`` with why, ``odd``: shut, and yet."""

    kind: str
    pods: int
    reason: BorderReason

    @property
    def label(self) -> Message:
        """The reason in a word or two."""
        return border_label(self.reason)


@dataclass(frozen=True)
class Line:
    """A leaf with its cells: its row of the table, or what it takes and gives."""

    name: str
    url: str
    chosen: bool
    cells: list[Cell]


@dataclass(frozen=True)
class Pairs:
    """``names``: the heads of the columns. ``whole``: every pair is there, not only those of the chosen queue.

    ``paged``: where the lines stand among all, where those are too many for one page.
    """

    names: list[str]
    lines: list[Line]
    whole: bool
    paged: Paged | None = None


def pairs(scene: Scene, query: QueryDict) -> Pairs:
    """All pairs of up to MOST_PAIRS leaves, else those of the chosen queue where it is a leaf, one leaf a line.

    ``query``: the page's, which says where in a long table it is.
    """
    whole = len(scene.leaves) <= MOST_PAIRS
    if whole:
        lines = [_line(scene, leaf, [(leaf, other) for other in scene.leaves]) for leaf in scene.leaves]
        return Pairs([scene.name(leaf) for leaf in scene.leaves], lines, whole=True)
    one = scene.chosen
    if one not in scene.leaves:
        return Pairs([], [], whole=False)
    others = [leaf for leaf in scene.leaves if leaf != one]
    shown, paged = numbered(others, query) if len(others) > MOST_LINES else (others, None)
    return Pairs([], [_line(scene, leaf, [(one, leaf), (leaf, one)]) for leaf in shown], whole=False, paged=paged)


def _line(scene: Scene, leaf: str, between: list[tuple[str, str]]) -> Line:
    return Line(
        name=scene.name(leaf),
        url=scene.choice.address(queue=leaf),
        chosen=bool(scene.chosen) and scene.tree.contains(scene.chosen, leaf),
        cells=[_cell(scene, *pair) for pair in between],
    )


def _cell(scene: Scene, asker: str, victim: str) -> Cell:
    found = scene.border_of(asker, victim)
    pods = scene.between.pods(asker, victim)
    if found.allowed:
        kind = "open"
    elif scene.between.is_odd(asker, victim):
        kind = "odd"
    else:
        kind = "self" if found.reason is BorderReason.SAME_QUEUE else "shut"
    return Cell(kind, pods, found.reason)
