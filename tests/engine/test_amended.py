"""Moments of many things that share what they know: each is what it would be written out in full."""

from hypothesis import given
from hypothesis import strategies as st

from engine.model.collections.overlay import PatchedSequence

PLACES = st.integers(0, 5)


@given(st.lists(st.tuples(st.integers(0, 20), st.dictionaries(PLACES, st.integers(), max_size=3)), max_size=20))
def test_moments_are_as_if_each_were_written_out(steps: list[tuple[int, dict[int, int]]]) -> None:
    """Whichever moment another one goes on from, and however often; the earlier ones stay as they were."""
    plain = [list(range(6))]
    moments: list[PatchedSequence[int] | list[int]] = [plain[0]]
    for step, other in steps:
        before = step % len(moments)
        moments.append(PatchedSequence(moments[before], other))
        plain.append([other.get(place, thing) for place, thing in enumerate(plain[before])])
    for moment, want in zip(moments, plain, strict=True):
        assert list(moment) == want
        assert [moment[place] for place in range(-6, 6)] == want + want
        assert list(moment[1:5:2]) == want[1:5:2]
        assert list(moment[4:]) == want[4:]
