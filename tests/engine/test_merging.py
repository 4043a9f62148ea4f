"""Two people's changes to one tree: both are kept, and what both changed is put to the choice."""

from hypothesis import given
from hypothesis import strategies as st

from engine.tree.three_way_merge import EXISTS, Conflict, merge

ROOT = {"name": "root"}
A = {"name": "a", "parent": "root", "max/cpu": "4", "delay": "30s"}
B = {"name": "b", "parent": "root"}
BASE = {"root": ROOT, "a": A, "b": B}


def test_changes_of_different_settings_are_both_kept() -> None:
    """Even of one queue; a rename leaves the rest alone."""
    merged = merge(BASE, BASE | {"a": A | {"max/cpu": "6"}}, BASE | {"a": A | {"name": "c", "delay": "1m"}})
    assert merged.queues["a"] == {"name": "c", "parent": "root", "max/cpu": "6", "delay": "1m"}
    assert merged.conflicts == ()


def test_the_same_change_twice_is_no_conflict() -> None:
    """They agree."""
    changed = BASE | {"a": A | {"max/cpu": "6"}}
    assert merge(BASE, changed, changed) == merge(BASE, changed, BASE)


def test_one_setting_changed_by_both_keeps_mine_and_asks() -> None:
    """All three texts are there to choose from; taking a setting away is a change too."""
    without = {name: text for name, text in A.items() if name != "max/cpu"}
    merged = merge(BASE, BASE | {"a": A | {"max/cpu": "6"}}, BASE | {"a": without})
    assert merged.queues["a"] == without
    assert merged.conflicts == (Conflict(queue="a", setting="max/cpu", base="4", theirs="6", mine=""),)


def test_what_one_added_the_other_gets() -> None:
    """Both new queues are there; a queue that both added is merged setting by setting."""
    mine, theirs = BASE | {"c": B | {"name": "c"}}, BASE | {"d": B | {"name": "d"}}
    assert merge(BASE, theirs, mine).queues == mine | theirs
    both = merge(BASE, BASE | {"c": B | {"delay": "1s"}}, BASE | {"c": B | {"delay": "2s"}})
    assert both.conflicts == (Conflict(queue="c", setting="delay", base="", theirs="1s", mine="2s"),)


def test_what_one_took_away_and_the_other_left_alone_is_gone() -> None:
    """Whoever took it away."""
    without = {"root": ROOT, "a": A}
    assert merge(BASE, without, BASE).queues == merge(BASE, BASE, without).queues == without


def test_what_one_took_away_and_the_other_changed_is_asked_about() -> None:
    """Mine stays, or stays away, until it is chosen."""
    without, changed = {"root": ROOT, "b": B}, BASE | {"a": A | {"delay": "1s"}}
    theirs_gone = merge(BASE, without, changed)
    assert theirs_gone.queues == changed
    assert theirs_gone.conflicts == (Conflict(queue="a", setting=EXISTS, base="there", mine="there"),)
    mine_gone = merge(BASE, changed, without)
    assert mine_gone.queues == without
    assert mine_gone.conflicts == (Conflict(queue="a", setting=EXISTS, base="there", theirs="there"),)


def test_a_queue_taken_away_stays_while_another_lies_below_it() -> None:
    """Nothing is left hanging in the air."""
    below = {"c": {"name": "c", "parent": "b"}}
    for theirs, mine in ((BASE | below, {"root": ROOT, "a": A}), ({"root": ROOT, "a": A}, BASE | below)):
        merged = merge(BASE, theirs, mine)
        assert merged.queues["b"] == B
        assert [(one.queue, one.setting) for one in merged.conflicts] == [("b", EXISTS)]


SIDES = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(["1", "2"]))
)


@given(SIDES, SIDES, SIDES)
def test_without_conflict_nobodys_change_is_lost(base: dict, theirs: dict, mine: dict) -> None:
    """Every setting that one side alone changed is as that side has it; what both changed alike, or not at all, too."""
    merged = merge(base, theirs, mine)
    asked = {(one.queue, one.setting) for one in merged.conflicts}
    for queue in {*base, *theirs, *mine}:
        if (queue, EXISTS) in asked:
            continue
        for setting in ("x", "y"):
            was, their, my, now = (side.get(queue, {}).get(setting) for side in (base, theirs, mine, merged.queues))
            if (queue, setting) in asked:
                assert now == my
            else:
                assert now == (their if my == was else my)


@given(SIDES, SIDES)
def test_who_changed_nothing_gets_the_others_tree(base: dict, other: dict) -> None:
    """And nothing is asked."""
    assert merge(base, other, base).queues == other
    assert merge(base, base, other).queues == other
    assert merge(base, other, base).conflicts == merge(base, base, other).conflicts == ()
