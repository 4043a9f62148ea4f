"""A sequence in blocks is the sequence of their items, and a changed one shares the blocks that did not change."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.collections.blocks import BlockSequence, items_at
from engine.model.collections.tracked_mapping import TrackedMapping

lists_of_blocks = st.lists(st.lists(st.integers(0, 9), max_size=4).map(tuple), min_size=1, max_size=6)


@given(lists_of_blocks, st.data())
def test_it_is_read_like_the_items_in_a_row(blocks: list[tuple[int, ...]], data: st.DataObject) -> None:
    """One by one, in stretches, several at once, and from behind."""
    plain, sequence = list(chain(*blocks)), BlockSequence(blocks)
    assert (list(sequence), len(sequence)) == (plain, len(plain))
    assert sequence == tuple(plain)
    assert sequence != [*plain, 0]
    start, end = data.draw(st.integers(-9, 30)), data.draw(st.integers(-9, 30))
    assert list(sequence[start:end]) == plain[start:end]
    if plain:
        places = data.draw(st.lists(st.integers(0, len(plain) - 1)))
        wanted = [plain[place] for place in places]
        assert [sequence[place] for place in places] == wanted
        assert items_at(sequence, np.array(places, np.intp)) == items_at(plain, np.array(places, np.intp)) == wanted
        assert sequence[-1] == plain[-1]
    with pytest.raises(IndexError):
        sequence[len(plain)]


@given(lists_of_blocks, st.data())
def test_replaced_items_change_their_blocks_alone(blocks: list[tuple[int, ...]], data: st.DataObject) -> None:
    """The sequence before is still what it was."""
    sequence = BlockSequence(blocks)
    places = st.integers(0, len(sequence) - 1) if len(sequence) else st.nothing()
    other = data.draw(st.dictionaries(places, st.integers(10, 19)))
    later = sequence.replaced(other)
    assert list(later) == [other.get(place, item) for place, item in enumerate(sequence)]
    assert list(sequence) == list(chain(*blocks))
    touched = {sequence.block_of(place)[0] for place in other}
    assert all(later.blocks[number] is block for number, block in enumerate(blocks) if number not in touched)


@given(st.lists(st.tuples(st.sampled_from(["aa1", "bb1", "cc2", "d"]), st.one_of(st.none(), st.integers()))))
def test_copies_of_a_mapping_never_see_each_others_changes(steps: list[tuple[str, int | None]]) -> None:
    """Though they share what neither has changed; every second change is made in a copy of its own."""
    mapping, plain = TrackedMapping[int](), dict[str, int]()
    copies: list[tuple[TrackedMapping[int], dict[str, int]]] = []
    for number, (key, thing) in enumerate(steps):
        if number % 2:
            copies.append((mapping.copy(), plain.copy()))
        for one, like in ((mapping, plain), *copies[-1:]):
            if thing is None:
                one.pop(key, None)
                like.pop(key, None)
            else:
                one[key] = like[key] = thing + (one is mapping)
    for one, like in ((mapping, plain), *copies):
        assert (dict(one), dict(one.items()), len(one)) == (like, like, len(like))
        assert sorted(one.values()) == sorted(like.values())
        assert all(one.get(key) == like.get(key) and (key in one) == (key in like) for key in ("aa1", "cc2", "d", "e"))
