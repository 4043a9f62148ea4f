"""Where the labels of a namespace aren't known, nobody is evicted on the strength of a guess about them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.decision import Outcome, Reason
from engine.model.objects import AffinityTerm, Namespace, Pod, Requirement
from engine.model.snapshot import ClusterState
from engine.policies import policy
from tests.builders import NOW, ask, node, pod, queue, tree

TREE = tree({"a": queue("4"), "b": queue()})
WEB = (Requirement("app", "In", ("web",)),)
TEAM = (Requirement("team", "In", ("x",)),)
BY_LABELS = AffinityTerm("zone", WEB, (), TEAM)
NAMED = AffinityTerm("zone", WEB, ("ns", "other"), TEAM)
EVERYWHERE = AffinityTerm("zone", WEB, (), ())
PLAIN = AffinityTerm("zone", WEB, ("ns",), None)
SAID = ("namespaceSelector",)


def seen(*objects: Any, known: str = "") -> dict[str, Pod]:
    """Name -> pod of a snapshot in which these namespaces are known."""
    state = ClusterState()
    state.namespaces = {name: Namespace(name=name) for name in known.split()}
    state.pods.update({one.uid: one for one in objects if isinstance(one, Pod)})
    return {one.name: one for one in state.snapshot(TREE, now_ms=NOW).pods}


@pytest.mark.parametrize("rule", ["affinity", "anti_affinity"])
@pytest.mark.parametrize(
    ("term", "known", "want"),
    [
        (BY_LABELS, "", SAID),
        (BY_LABELS, "ns", SAID),
        (BY_LABELS, "ns other", ()),
        (NAMED, "", ()),
        (EVERYWHERE, "", ()),
        (PLAIN, "", ()),
    ],
)
def test_an_ask_whose_rule_needs_labels_that_are_not_known_says_so(
    rule: str, term: AffinityTerm, known: str, want: tuple[str, ...]
) -> None:
    """Of a namespace that it names, or where every one is meant, no labels are needed."""
    far = pod("far", node="n1", namespace="other")
    assert seen(ask("p", **{rule: (term,)}), far, known=known)["p"].unread_rules == want


@pytest.mark.parametrize(
    ("term", "known", "want"),
    [(BY_LABELS, "", SAID), (BY_LABELS, "ns", ()), (NAMED, "", ()), (EVERYWHERE, "", ()), (PLAIN, "", ())],
)
def test_so_does_one_that_others_may_keep_away(term: AffinityTerm, known: str, want: tuple[str, ...]) -> None:
    """Here its own namespace's labels count, of whatever rules it has itself."""
    keeper = pod("keeper", node="n1", anti_affinity=(term,))
    found = seen(ask("p"), keeper, known=known)
    assert found["p"].unread_rules == want
    assert found["keeper"].unread_rules == ()


def test_what_can_not_be_judged_besides_is_said_as_well() -> None:
    """One reason doesn't hide another."""
    found = seen(ask("p", affinity=(BY_LABELS,), unread_rules=("resourceClaims",)))
    assert found["p"].unread_rules == ("resourceClaims", "namespaceSelector")


def test_nobody_goes_for_such_an_ask() -> None:
    """It is left alone until the namespaces are known; then it is decided like any other."""
    victims = [pod(f"v{number}", queue="b", node="n1") for number in range(2)]
    waits = ask("p", queue="a", cpu=2, priority=1, anti_affinity=(BY_LABELS,))
    state = ClusterState()
    state.nodes = {"n1": node("n1", 2, labels={"zone": "z"})}
    state.pods.update({one.uid: one for one in (*victims, waits)})
    outcomes = []
    for namespaces in ({}, {"ns": Namespace(name="ns")}):
        state.namespaces = namespaces
        at = state.snapshot(TREE, now_ms=NOW)
        decision = policy("fence", "design")(at, TREE, at.asks[0])
        outcomes.append((decision.outcome, decision.reason == Reason.UNREAD_RULES))
    assert outcomes == [(Outcome.NOT_ELIGIBLE, True), (Outcome.PREEMPT, False)]


TERMS = st.lists(st.sampled_from([BY_LABELS, NAMED, EVERYWHERE, PLAIN]), max_size=2).map(tuple)
PODS = st.lists(st.tuples(st.sampled_from(["ns", "other", "third"]), st.booleans(), TERMS, TERMS), max_size=5)


@given(pods=PODS, known=st.sets(st.sampled_from(["ns", "other", "third"])))
def test_knowing_more_never_hides_more(pods: Any, known: set[str]) -> None:
    """Where every namespace is known all can be judged, and each that is known makes no ask more doubtful."""
    made = [
        pod(f"p{number}", namespace=namespace, node="n1" if bound else None, affinity=near, anti_affinity=apart)
        for number, (namespace, bound, near, apart) in enumerate(pods)
    ]
    doubtful = [
        {name for name, one in seen(*made, known=" ".join(names)).items() if one.unread_rules}
        for names in ({*known, "ns", "other", "third"}, known, set())
    ]
    assert not doubtful[0]
    assert doubtful[1] <= doubtful[2]
