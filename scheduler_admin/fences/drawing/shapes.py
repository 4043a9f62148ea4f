"""A scene as shapes: boxes with texts, fences with teeth, arrows. In pixels; how they look is the stylesheet's."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from engine.tree.reach import OPEN, Fences
from scheduler_admin.fences import descriptions
from scheduler_admin.fences.drawing.arrows import Arrow, LeftOut, arrows
from scheduler_admin.fences.drawing.layout import SIDE, Box, extent, layout
from scheduler_admin.fences.drawing.routes import Plot, Rect
from scheduler_admin.fences.drawing.stops import Stop, stop
from scheduler_admin.fences.drawing.text_widths import fitted, shortened, width, wrapped
from scheduler_admin.fences.folding import Drawn
from scheduler_admin.fences.scene import Scene

NAME, TEXT = 14, 12
"""Sizes of type, in pixels."""
_INSET = 12
_LINE = 16
_TOOTH, _DEPTH, _APART = 9, 7, 36


@dataclass(frozen=True)
class Text:
    """A line of text at its baseline; ``whole``: all of it where it was cut. ``kind``: name, tag, state or link."""

    x: int
    y: int
    text: str
    kind: str = "state"
    whole: str = ""
    url: str = ""

    @property
    def wide(self) -> int:
        """How wide the place is that a pointer finds it at."""
        return max(24, round(width(self.text, TEXT)))


@dataclass(frozen=True)
class Shape:
    """A queue's box. ``look``: chosen, lit (reached) or plain. ``title``: what it says, for those who don't see it.

    ``fenced``: a fence is around it; ``teeth`` point the way through, where there is one.
    """

    box: Box
    look: str
    hatched: bool
    current: bool
    fenced: bool
    teeth: str
    texts: list[Text]
    url: str
    title: str


@dataclass(frozen=True)
class Picture:
    """All that the template draws."""

    width: int
    height: int
    parents: list[Shape]
    singles: list[Shape]
    arrows: list[Arrow]
    stop: Stop | None
    left_out: LeftOut

    @cached_property
    def odd(self) -> bool:
        """Whether an arrow runs through a shut border."""
        return any(arrow.odd for arrow in self.arrows)


def picture(scene: Scene) -> Picture:
    """The map of a scene."""
    boxes = layout(scene.drawn, lambda drawn: _natural(scene, drawn), lambda drawn: _banded(scene, drawn))
    every = [box for top in boxes for box in top.walk()]
    parents = [_parent(scene, box) for box in every if box.inside]
    single = [box for box in every if not box.inside]
    singles = [_single(scene, box, _standing(scene, box)) for box in single]
    size = extent(boxes)
    plot = Plot(
        size,
        tuple(_rect(shape.box) for shape in singles),
        tuple(_rect(shape.box) for shape in parents),
        tuple(_around(text) for shape in parents for text in shape.texts),
    )
    drawn, left_out = arrows(scene, [shape.box for shape in singles], plot)
    return Picture(*size, parents, singles, drawn, stop(scene, every, plot), left_out)


def _rect(box: Box) -> Rect:
    return box.x, box.y, box.w, box.h


def _own_path(box: Box) -> str:
    """Of the queue that a box is, empty where it stands for several that are left out."""
    return "" if box.drawn.rest else box.drawn.path


def _standing(scene: Scene, box: Box) -> Text | None:
    """How the usage of the box's queue compares with its guarantee: in the longest words that there is room for."""
    standing = scene.standings.get(_own_path(box))
    if standing is None:
        return None
    inset = _inset(scene, box)
    room, options = box.w - 2 * inset, (standing.text, *standing.shorter)
    said = next((each for each in options if width(each, TEXT) <= room), fitted(options[-1], room, TEXT))
    return Text(box.x + inset, box.bottom - inset, said, whole=standing.text if said != standing.text else "")


def _inset(scene: Scene, box: Box) -> int:
    return _INSET + (6 if _fenced(scene, box.drawn) else 0)


def _natural(scene: Scene, drawn: Drawn) -> int:
    name = width(descriptions.title(drawn), NAME, bold=True)
    beside = descriptions.tag(scene, drawn)
    return round(name + (width(beside, TEXT) + 8 if beside else 0)) + 2 * _INSET


def _banded(scene: Scene, drawn: Drawn) -> bool:
    """A leaf without a fence: beside tenants, what may reach them."""
    return not (drawn.children or drawn.folded or drawn.rest or _fenced(scene, drawn))


def _fenced(scene: Scene, drawn: Drawn) -> bool:
    return not drawn.rest and scene.fence(drawn.path) == drawn.path


def _around(text: Text) -> Rect:
    return text.x, text.y - NAME, round(width(text.text, NAME)), NAME + 4


def _parent(scene: Scene, box: Box) -> Shape:
    path = box.drawn.path
    fenced = _fenced(scene, box.drawn)
    chosen = path == scene.chosen
    texts = [*_head(scene, box, box.x + SIDE, box.y + 24)]
    texts += _acts(scene, box, texts[-1])
    if fenced:
        texts.append(Text(box.x + SIDE, box.bottom - 15, _at_the_fence(scene, box)))
    return Shape(
        box=box,
        look="chosen" if chosen else "plain",
        hatched=False,
        current=chosen,
        fenced=fenced,
        teeth=_teeth(scene, box),
        texts=texts,
        url=scene.choice.address(queue="" if path == scene.tree.root else path),
        title=path,
    )


def _acts(scene: Scene, box: Box, last: Text) -> Iterator[Text]:
    """What may be done with an open queue, at the right end of its head, as far as there is room."""
    path, choice = box.drawn.path, scene.choice
    x, end = box.right - SIDE, last.x + width(last.text, NAME, bold=True) + 12
    for said, url in (
        (_("Show whole tree"), choice.address(inside="") if path == choice.inside else ""),
        (_("Show only this"), choice.address(inside=path) if path not in (scene.tree.root, choice.inside) else ""),
        (_("Collapse"), choice.folding(path) if scene.folds(path) else ""),
    ):
        x -= round(width(said, TEXT)) if url else 0
        if url and x >= end:
            yield Text(x, box.y + 24, said, "link", url=url)
            x -= 16


def _at_the_fence(scene: Scene, box: Box) -> str:
    room = box.w - 2 * SIDE
    said = descriptions.at_the_fence(scene, box.drawn.path, box.drawn.leaves)
    return said if width(said, TEXT) <= room else fitted(descriptions.lets_nothing_out(scene), room, TEXT)


def _head(scene: Scene, box: Box, x: int, y: int) -> Iterator[Text]:
    """The name, with what is said beside it as far as there is room."""
    name, beside = descriptions.title(box.drawn), descriptions.tag(scene, box.drawn)
    room = box.right - x - _INSET
    kept = shortened(name, room, NAME)
    yield Text(x, y, kept, "name", box.drawn.path if kept != name else "")
    taken = round(width(kept, NAME, bold=True)) + 8
    if beside and width(beside, TEXT) <= room - taken:
        yield Text(x + taken, y, beside, "tag")


def _text(x: int, y: int, said: str, room: float, **more: str) -> Text:
    kept = fitted(said, room, TEXT)
    return Text(x, y, kept, whole=said if kept != said else "", **more)


def _single(scene: Scene, box: Box, standing: Text | None) -> Shape:
    drawn = box.drawn
    current = drawn.path == scene.chosen and not drawn.rest
    around = [scene.around[leaf] for leaf in drawn.leaves if leaf in scene.around]
    says = descriptions.state(scene, drawn)
    return Shape(
        box=box,
        look="chosen" if current else "lit" if any(each.out.reason in OPEN for each in around) else "plain",
        hatched=any(each.into.reason in OPEN for each in around),
        current=current,
        fenced=_fenced(scene, drawn),
        teeth=_teeth(scene, box),
        texts=_lines(scene, box, says, standing),
        url=_url(scene, drawn),
        title=f"{drawn.path}: {'; '.join(says)}" if says else drawn.path,
    )


def _url(scene: Scene, drawn: Drawn) -> str:
    if drawn.rest:
        return scene.choice.opening(drawn.path)
    return scene.choice.address(queue=drawn.path)


def _lines(scene: Scene, box: Box, says: Sequence[str], standing: Text | None) -> list[Text]:
    """Name and tag, what it says of itself in at most three lines, and at the lower edge where it stands."""
    drawn = box.drawn
    inset = _inset(scene, box)
    x, room = box.x + inset, box.w - 2 * inset
    texts = list(_head(scene, box, x, box.y + 24))
    y = box.y + 24
    beside = descriptions.tag(scene, drawn)
    if beside and len(texts) == 1:
        says = [beside, *says]
    if drawn.folded:
        url = scene.choice.opening(drawn.path)
        texts.append(_text(x, y := y + 20, descriptions.count(drawn), room, kind="link", url=url))
    broken = [wrapped(each, room, TEXT) for each in says]
    first = y + (20 if y == box.y + 24 else _LINE)
    lowest = box.bottom - inset - (TEXT + 2 if standing else 0)
    high = max(0, (lowest - first) // _LINE + 1)
    if sum(map(len, broken)) > high:
        broken = [[fitted(each, room, TEXT)] for each in says][:high]
    for line, whole in ((line, says[place]) for place, lines in enumerate(broken) for line in lines):
        y += 20 if y == box.y + 24 else _LINE
        texts.append(Text(x, y, line, whole=whole if line not in whole else ""))
    return [*texts, standing] if standing else texts


def _teeth(scene: Scene, box: Box) -> str:
    """Triangles on the inner side of a fence: they point the only way through."""
    if not (_fenced(scene, box.drawn) and scene.rules.fences is Fences.ONE_WAY):
        return ""
    return "".join(
        [
            *(f"M{x} {box.y}h{_TOOTH}l{-_TOOTH / 2} {_DEPTH}z" for x in _places(box.x, box.w)),
            *(f"M{x} {box.bottom}h{_TOOTH}l{-_TOOTH / 2} {-_DEPTH}z" for x in _places(box.x, box.w)),
            *(f"M{box.x} {y}v{_TOOTH}l{_DEPTH} {-_TOOTH / 2}z" for y in _places(box.y, box.h)),
            *(f"M{box.right} {y}v{_TOOTH}l{-_DEPTH} {-_TOOTH / 2}z" for y in _places(box.y, box.h)),
        ]
    )


def _places(start: int, length: int) -> Iterator[int]:
    """Where the teeth of one side stand, evenly, none in a corner."""
    many = max(1, (length - _APART // 2) // _APART)
    step = length / many
    for place in range(many):
        yield round(start + step * (place + 0.5) - _TOOTH / 2)
