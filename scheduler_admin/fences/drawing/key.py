"""The key of a map: what its lines and fills mean; only what the map shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from scheduler_admin.fences.drawing.shapes import TEXT, Picture
from scheduler_admin.fences.drawing.text_widths import width
from scheduler_admin.fences.scene import Scene

LINE = 24
"""From one line of a key in a file to the next, in pixels."""
_BESIDE, _APART = 8, 28


@dataclass(frozen=True)
class Entry:
    """A sign and what it means. ``kind`` names the sign, ``wide`` is its width in pixels: none where it is empty."""

    kind: str
    wide: int
    text: str


@dataclass(frozen=True)
class Placed:
    """An entry in a file: where its sign and its text begin."""

    entry: Entry
    x: int
    y: int

    @property
    def text_x(self) -> int:
        """Where the text begins."""
        return self.x + (self.entry.wide + _BESIDE if self.entry.wide else 0)


def key(scene: Scene, drawn: Picture) -> list[Entry]:
    """What a reader of the map needs to know."""
    return list(_entries(scene, drawn))


def _entries(scene: Scene, drawn: Picture) -> Iterator[Entry]:
    if any(shape.teeth for shape in (*drawn.parents, *drawn.singles)):
        yield Entry("fence", 34, _("fence: preemption crosses it only in the direction of the teeth"))
    elif any(shape.fenced for shape in (*drawn.parents, *drawn.singles)):
        yield Entry("border", 34, _("fence: no lending or preemption across it"))
    if scene.chosen:
        yield Entry("chosen", 22, _("chosen"))
        yield Entry("lit", 22, _("preemptable by the chosen queue"))
        yield Entry("hatched", 22, _("can preempt the chosen queue"))
    if drawn.arrows:
        yield Entry("arrow", 40, _("pods preempted, from the preemptor’s to the victim’s queue"))
    if drawn.odd:
        yield Entry("odd", 40, _("the same, through a closed border"))
    if drawn.stop:
        yield Entry("stop", 26, _("blocked by a fence"))
    if scene.standings:
        yield Entry("", 0, _("at the bottom of a box: usage compared with the guarantee"))


def placed(entries: Sequence[Entry], room: int) -> list[Placed]:
    """The entries side by side, in as many lines as they need."""
    found: list[Placed] = []
    x, y = 0, 0
    for entry in entries:
        one = Placed(entry, x, y)
        if found and one.text_x + width(entry.text, TEXT) > room:
            one = Placed(entry, 0, y + LINE)
        found.append(one)
        x, y = round(one.text_x + width(entry.text, TEXT)) + _APART, one.y
    return found
