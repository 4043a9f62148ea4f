"""How the map of fences is laid out: nothing overlaps, no text leaves its box, arrows run between the boxes."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.model.queue_tree import QueueTree
from engine.tree.reach import BY_GUARANTEES
from scheduler_admin.counts.selectors.pairs import Pair, PairCount
from scheduler_admin.fences.address import Choice
from scheduler_admin.fences.drawing.layout import CELL, WIDTH, Box
from scheduler_admin.fences.drawing.paths import arrow, line
from scheduler_admin.fences.drawing.routes import Plot, Rect, routes
from scheduler_admin.fences.drawing.shapes import NAME, TEXT, Picture, Text, picture
from scheduler_admin.fences.drawing.text_widths import ELLIPSIS, fitted, shortened, width, wrapped
from scheduler_admin.fences.folding import MOST_BOXES, Drawn, drawn
from scheduler_admin.fences.scene import Scene
from scheduler_admin.fences.standings import Standing, standing_of
from scheduler_admin.queues.models import Queue
from scheduler_admin.queues.selectors.queues import TreeRow
from tests.builders import queue, tree
from tests.engine.test_reach import EXAMPLE, grown
from tests.properties import examples

SHORTER = ("memory 123456Gi below", "memory below")
SEEDS = st.integers(0, 2**32)


def scene(of: QueueTree, chosen: str = "", happened: Counter[Pair] | None = None, *opened: str) -> Scene:
    """What somebody sees who may see everything."""
    standings = dict.fromkeys(of.queues, Standing("memory 123456Gi below guarantee", SHORTER))
    went = PairCount(happened or Counter())
    return Scene(of, BY_GUARANTEES, frozenset(of.queues), Choice(chosen, opened=opened), [went], standings)


def random_scene(seed: int) -> Scene:
    """A tree with some long names, any of its queues chosen, and some preemptions."""
    random = Random(seed)
    of = grown(random)
    leaves = [random.choice(of.leaves) for _ in range(8)]
    happened = Counter(
        {
            Pair(one, other, "engine", ordinary=True): random.randint(1, 300)
            for one, other in pairwise(leaves)
            if one != other
        }
    )
    return scene(of, random.choice(["", *list(of.queues)[1:]]), happened)


def shapes_of(made: Picture) -> Iterator[Box]:
    """All boxes, parents first."""
    return (shape.box for shape in (*made.parents, *made.singles))


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share a pixel."""
    return one.x < other.right and other.x < one.right and one.y < other.bottom and other.y < one.bottom


@given(SEEDS)
@examples(40)
def test_boxes_lie_in_their_parents_and_beside_each_other(seed: int) -> None:
    """On the grid, within the map, with a lane between them."""
    made = picture(random_scene(seed))
    assert made.width == WIDTH
    well_laid(made)


def test_a_very_deep_tree_makes_a_wider_map() -> None:
    """Rather than boxes that leave their parents."""
    deepest = ".".join("q" * 30)
    made = picture(scene(tree({deepest: queue("1")}), f"root.{deepest}"))
    assert made.width > WIDTH
    well_laid(made)


def well_laid(made: Picture) -> None:
    """Every box in its parent's, none over another."""
    for box in shapes_of(made):
        assert all(edge % CELL == 0 for edge in (box.x, box.y, box.w, box.h))
        assert box.x >= 0 <= box.y
        assert box.right <= made.width
        assert box.bottom <= made.height
        for inside in box.inside:
            assert box.x < inside.x
            assert box.y < inside.y
            assert inside.right < box.right
            assert inside.bottom < box.bottom
        assert not any(overlap(one, other) for one, other in combinations(box.inside, 2))


@given(SEEDS)
@example(105967969)  # four lines of a leaf fence above where it stands
@examples(40)
def test_no_text_leaves_its_box_or_covers_another(seed: int) -> None:
    """As wide as it could get in any font."""
    made = picture(random_scene(seed))
    for shape in (*made.parents, *made.singles):
        for text in shape.texts:
            assert shape.box.x < text.x
            assert end_of(text) <= shape.box.right
            assert shape.box.y < text.y - (NAME if text.kind == "name" else TEXT)
            assert text.y < shape.box.bottom
        for one, other in combinations(sorted(shape.texts, key=lambda text: text.x), 2):
            assert abs(one.y - other.y) >= TEXT + 2 or end_of(one) <= other.x, (one.text, other.text)


def end_of(text: Text) -> float:
    """Where a text ends at most."""
    return text.x + (width(text.text, NAME, bold=True) if text.kind == "name" else width(text.text, TEXT))


@pytest.mark.parametrize(
    ("standing", "said"),
    [
        (Standing("nvidia.com/gpu and memory above, cpu below", ("gpu above",)), "gpu above"),
        (Standing("cpu 40 above guarantee", ("cpu 40 above",)), "cpu 40 above guarantee"),
        (None, "preemptable by 2 queues"),
    ],
)
def test_a_box_compares_usage_with_the_guarantee(standing: Standing | None, said: str) -> None:
    """With the resource and the amount, as far as there is room for them."""
    shown = replace(scene(EXAMPLE), standings=dict.fromkeys(EXAMPLE.queues, standing) if standing else {})
    found = {shape.box.drawn.path: shape.texts[-1].text for shape in picture(shown).singles}
    assert found["root.tenant-1.training"] == said


@pytest.mark.parametrize(
    ("used", "said"),
    [
        ({"cpu": 12_000}, ("cpu 88 below guarantee", "cpu 88 below", "cpu below")),
        ({"cpu": 100_500}, ("cpu 500m above guarantee", "cpu 500m above", "cpu above")),
        ({"cpu": 100_000}, ("at its guarantee",)),
        ({"cpu": 101_000, "nvidia.com/gpu": 1}, ("cpu above, gpu below", "cpu above")),
    ],
)
def test_a_standing_is_told_in_shorter_words_too(used: dict[str, int], said: tuple[str, ...]) -> None:
    """Each names the resource; the amount is the difference to what is promised."""
    promised = {"cpu": 100_000, "nvidia.com/gpu": 2}
    granted = {name: amount for name, amount in promised.items() if amount is not None}
    row = TreeRow(Queue(path="root.a"), 1, 0, 0, None, tuple(used), used, granted)
    assert (standing_of(row).text, *standing_of(row).shorter) == said


@given(SEEDS)
@examples(40)
def test_a_number_stands_beside_its_resource_or_is_left_out(seed: int) -> None:
    """However narrow the box is. What is shortened tells the whole when it is pointed at."""
    whole = "memory 123456Gi below guarantee"
    for shape in picture(random_scene(seed)).singles:
        for text in shape.texts:
            if whole in (text.text, text.whole):
                assert text.text in (whole, *SHORTER) or (text.text[-1] == "…" and text.text[:-1] in SHORTER[-1])
                assert (text.whole == "") is (text.text == whole)


def test_what_is_said_at_a_fence_has_air_on_both_sides() -> None:
    """Below the boxes, above the teeth."""
    for shape in picture(scene(EXAMPLE, "root.tenant-1.training")).parents:
        if shape.teeth:
            said = shape.texts[-1].y
            assert said - TEXT - max(box.bottom for box in shape.box.inside) >= 9
            assert shape.box.bottom - 7 - said >= 8


@given(SEEDS)
@examples(40)
def test_every_arrow_runs_from_box_to_box_and_through_none(seed: int) -> None:
    """On the edges of its two boxes it begins and ends."""
    random = Random(seed)
    made = picture(random_scene(seed))
    rects = tuple((box.x, box.y, box.w, box.h) for box in (shape.box for shape in made.singles))
    pairs = tuple((random.choice(rects), random.choice(rects)) for _ in range(6))
    pairs = tuple((one, other) for one, other in pairs if one != other)
    for (start, end), way in zip(pairs, routes(Plot((made.width, made.height), rects, (), ()), pairs), strict=True):
        assert on_edge(way[0], start)
        assert on_edge(way[-1], end)
        for one, other in pairwise(way):
            assert one[0] == other[0] or one[1] == other[1]
            assert not any(through(one, other, rect) for rect in rects)


def on_edge(point: tuple[float, float], rect: Rect) -> bool:
    """Whether a point lies on a box's border."""
    x, y, w, h = rect
    beside = point[0] in (x, x + w) and y <= point[1] <= y + h
    return beside or (point[1] in (y, y + h) and x <= point[0] <= x + w)


def through(one: tuple[float, float], other: tuple[float, float], rect: Rect) -> bool:
    """Whether a stretch runs inside a box."""
    x, y, w, h = rect
    left, right = sorted([one[0], other[0]])
    top, bottom = sorted([one[1], other[1]])
    return left < x + w and x < right + (left == right) and top < y + h and y < bottom + (top == bottom)


def test_arrows_of_the_same_way_run_in_lanes_of_their_own() -> None:
    """There and back between two boxes."""
    left, right = (0, 0, 120, 120), (180, 0, 120, 120)
    there, back = routes(Plot((300, 120), (left, right), (), ()), ((left, right), (right, left)))
    assert len(there) == len(back) == 2
    assert abs(there[0][1] - back[0][1]) >= CELL


def test_a_way_that_is_walled_in_is_none() -> None:
    """Rather no arrow than one through a box."""
    whole, inner = (0, 0, 120, 120), (36, 36, 36, 36)
    assert routes(Plot((120, 120), (whole, inner), (), ()), ((inner, whole),)) == ((),)


def test_arrows_keep_off_fences_that_are_not_theirs() -> None:
    """Around a parent that has nothing to do with it, although through it is shorter."""
    start, end, wall = (0, 48, 60, 60), (480, 48, 60, 60), (120, 0, 300, 108)
    (way,) = routes(Plot((540, 240), (start, end), (wall,), ()), ((start, end),))
    assert not any(through(one, other, wall) for one, other in pairwise(way))


def test_a_stop_ends_inside_the_fence() -> None:
    """Before its border, where the teeth are."""
    made = picture(scene(EXAMPLE, "root.tenant-1.training"))
    fence = next(shape.box for shape in made.parents if shape.box.drawn.path == "root.tenant-1")
    assert made.stop is not None
    x, y = (float(value) for value in made.stop.bar[1:].partition("h")[0].partition("v")[0].split())
    assert fence.x < x < fence.right
    assert fence.y < y < fence.bottom


@pytest.mark.parametrize("chosen", ["", "root.system", "root.tenant-1"])
def test_without_a_fence_around_the_chosen_nothing_is_stopped(chosen: str) -> None:
    """And a fenced parent says it at its own edge."""
    assert picture(scene(EXAMPLE, chosen)).stop is None


def test_the_busiest_arrow_is_the_widest() -> None:
    """By the square root of the count, none thinner than can be seen."""
    pods = {"tenant-1.queue-b": 400, "tenant-1.training": 100, "queue-a": 1}
    pairs = Counter({Pair("root.system", f"root.{name}", "engine", ordinary=True): n for name, n in pods.items()})
    found = {arrow.count.text: arrow.width for arrow in picture(scene(EXAMPLE, "", pairs)).arrows}
    assert found == {"400": 9.0, "100": 4.5, "1": 1.5}


def test_lines_turn_in_curves_and_heads_point_along() -> None:
    """As SVG has it."""
    assert line([(0, 0), (20, 0), (20, 20)]) == "M0 0L14 0Q20 0 20 6L20 20"
    shaft, head = arrow([(0, 0), (0, 40)], 2)
    assert shaft == "M0 0L0 29"
    assert head.startswith("M0 40L")


def huge() -> QueueTree:
    """Five hundred queues: twenty divisions of four departments of five, one department fenced."""
    divisions = {f"d{i}": queue("9", fence=i % 3 == 0) for i in range(20)}
    return tree(
        divisions
        | {f"d{i}.e{j}.q{k}": queue("1", fence=j == k == 1) for i in range(20) for j in range(4) for k in range(5)}
    )


def boxes(of: list[Drawn]) -> list[str]:
    """The single boxes' paths, with what stands for several in brackets."""
    return [f"({box.path})" if box.folded or box.rest else box.path for top in of for box in top.boxes()]


def test_a_level_is_drawn_whole_or_not_at_all() -> None:
    """But for what was asked for, and the way to it."""
    of = huge()
    assert boxes(drawn(of, of.queues, [])) == [f"(root.d{i})" for i in range(20)]
    found = boxes(drawn(of, of.queues, ["root.d3.e1.q2"]))
    assert "root.d3.e1.q2" in found
    assert "(root.d3.e0)" in found
    assert "(root.d4)" in found
    assert len(found) == 20 + 3 + 4


def test_every_leaf_is_in_one_box() -> None:
    """Whatever is folded."""
    of = huge()
    for wanted in ([], ["root.d3"], ["root.d3.e1.q2", "root.d9"], ["root"]):
        held = [leaf for top in drawn(of, of.queues, wanted) for box in top.boxes() for leaf in box.leaves]
        assert sorted(held) == sorted(of.leaves)


def test_of_very_many_children_some_are_drawn_and_one_box_stands_for_the_rest() -> None:
    """Those that are asked for among them; all, once their parent is opened."""
    of = tree({f"q{n:03}": queue() for n in range(500)})
    found = boxes(drawn(of, of.queues, ["root.q499"]))
    assert found[-2:] == ["root.q499", "(root)"]
    assert len(found) <= MOST_BOXES
    assert len(boxes(drawn(of, of.queues, ["root"]))) == 500


def test_what_a_tenant_may_see_has_several_tops() -> None:
    """Each beside the others."""
    of = huge()
    seen = frozenset(path for path in of.queues if path.startswith(("root.d1.e1", "root.d2.e2")))
    made = Scene(of, BY_GUARANTEES, seen, Choice(), (), {})
    assert [top.path for top in made.tops] == ["root.d1.e1", "root.d2.e2"]
    one, other = (shape.box for shape in picture(made).parents)
    assert not overlap(one, other)


@pytest.mark.parametrize("chosen", ["", "root.d3.e1.q2"])
def test_five_hundred_queues_are_drawn_in_no_time(chosen: str) -> None:
    """Well within the two seconds in which a page refreshes itself."""
    of = huge()
    random = Random(7)
    happened = Counter(
        Pair(random.choice(of.leaves), random.choice(of.leaves), "engine", ordinary=True) for _ in range(300)
    )
    start = time.process_time()
    made = picture(scene(of, chosen, happened))
    assert time.process_time() - start < 1.5
    assert made.arrows


def test_texts_are_cut_where_there_is_no_room() -> None:
    """Sentences at their end, names in their middle; words are wrapped."""
    assert fitted("can preempt it", 500, TEXT) == "can preempt it"
    assert fitted("can preempt it: no fence", 60, TEXT).endswith(ELLIPSIS)
    assert shortened("namespace-of-team-7", 100, NAME).endswith("-7")
    assert wrapped("not preemptable: shared guarantee", 132, TEXT) == ["not preemptable:", "shared guarantee"]
    assert width("宽", TEXT) == TEXT


@given(st.text(max_size=40), st.integers(20, 300))
def test_what_was_fitted_fits(text: str, room: int) -> None:
    """Whatever it is."""
    assert width(fitted(text, room, TEXT), TEXT) <= room
    assert width(shortened(text, room, NAME), NAME, bold=True) <= room
