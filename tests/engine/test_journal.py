"""Any moment is read again as it was, from bytes that depend on nothing but what they say; damage is told."""

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.tree_json.canonical import encode_tree
from engine.model.decision import Interlock, encode
from engine.model.objects import (
    AffinityTerm,
    Claim,
    DisruptionBudget,
    HostPort,
    Namespace,
    NodeSelectorTerm,
    PriorityClass,
    Requirement,
    SpreadConstraint,
    Volume,
)
from engine.model.snapshot import ClusterState, Protection
from engine.planning import journal
from engine.planning.journal import (
    FORM_OF_PIECES,
    CorruptJournalError,
    JournalVersionError,
    PassInputs,
    count_pieces,
    encode_changes,
    encode_keyframe,
    encode_pieces,
    frames,
    holds_of,
    numbered_frames,
    read,
    replay,
    same_state,
)
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import policy
from tests.builders import NOW, ask, daemonset_ask, node, pod, queue, reservation, tree
from tests.worker.watch import Watch

TREE = tree({"prod": queue({"cpu": "8", "gpu": 2}, delay_ms=1), "test": queue("2"), "batch": queue("1")})
DECIDE = policy("fence", "design")
BUDGET = DisruptionBudget(namespace="ns", name="keep", expressions=(Requirement("app", "In", ("a", "b")),), allowed=1)
LOCAL = NodeSelectorTerm((Requirement("kubernetes.io/hostname", "In", ("n1",)),))
AFFINITY = AffinityTerm("zone", (Requirement("app", "Exists"),), (), ())
ANTI = AffinityTerm("zone", None, ("ns",))
OBJECTS = [
    node("n1", 6, labels={"zone": "a", "disk": "ssd"}, resources={"gpu": 1, "memory": "8Gi"}),
    node("n2", 4, resources={"memory": "8Gi"}),
    PriorityClass(name="keep", opted_out=True),
    BUDGET,
    Namespace(name="ns", labels={"team": "a", "kubernetes.io/metadata.name": "ns"}),
    Claim(namespace="ns", name="data", volume="v1", exclusive=True),
    Claim(namespace="ns", name="waits"),
    Volume(name="v1", node_affinity=(LOCAL,), zones=(Requirement("topology.kubernetes.io/zone", "In", ("a", "b")),)),
    *[pod(f"t{i}", queue="test", node="n1", resources={"memory": "1Gi"}, labels={"b": "", "a": "1"}) for i in range(6)],
    *[pod(f"b{i}", queue="batch", node="n2", priority_class="keep" if i else "") for i in range(4)],
    ask("p0", queue="prod", cpu=2, resources={"memory": "1Gi", "gpu": 0}),
    ask("p1", queue="prod", cpu=3, node_selector={"zone": "b", "disk": "hdd"}),
    ask("p2", queue="prod", cpu=9, resources={"memory": "99Gi", "gpu": 3}),
    ask("b9", queue="batch", affinity=(AFFINITY,), anti_affinity=(ANTI,), spread=(SpreadConstraint("zone", 2),)),
    ask("b8", queue="batch", claims=("data", "data"), own_claims=("b8-scratch",), priority=-1),
    daemonset_ask("agent", on="n2", queue="prod"),
]  # fmt: skip
MOMENT = PassInputs(
    now_ms=NOW,
    protection=Protection(namespaces=frozenset({"kube-system", "vault", "ingress"})),
    reservations=(reservation(ask("other", queue="prod"), node="n9"),),
    going=frozenset({"uid-b3", "uid-long-gone"}),
    notices={"root.test": NOW - 1000},
    holds={"uid-p0": Interlock.COOL_DOWN},
)


def state_of(*objects: object) -> ClusterState:
    """A cluster of these."""
    return Watch(*objects).state


def documents(found: Iterable[AuditedDecision]) -> list[bytes]:
    """Decisions as they are stored."""
    return [encode(one.decision) for one in found]


def shuffled(state: ClusterState, seed: int) -> ClusterState:
    """The same, with every mapping in another order."""
    order = random.Random(seed)

    def mixed(value: object) -> object:
        if isinstance(value, dict):
            return dict(order.sample([(key, mixed(one)) for key, one in value.items()], len(value)))
        if isinstance(value, msgspec.Struct):
            return type(value)(**{name: mixed(getattr(value, name)) for name in value.__struct_fields__})
        return value

    copy = ClusterState()
    vars(copy).update({column: mixed(kept) for column, kept in vars(state).items()})
    return copy


def test_a_keyframe_gives_back_the_state_and_the_moment() -> None:
    """Equal in every object, and with what the pass added."""
    state, moment = read([encode_keyframe(state_of(*OBJECTS), MOMENT)])
    assert same_state(state, state_of(*OBJECTS))
    assert moment == MOMENT


def test_a_chain_gives_back_every_moment_on_its_way() -> None:
    """What came, what changed, what went, in each of the columns."""
    watch = Watch(*OBJECTS)
    steps, chain = [watch.watcher.state()], [encode_keyframe(watch.state, MOMENT)]
    watch.put(node("n3"), pod("new", queue="test", node="n3"), msgspec.structs.replace(BUDGET, allowed=0))
    watch.gone("t0", "b1")
    watch.put(Namespace(name="ns"), Claim(namespace="ns", name="waits", volume="v2"), Volume(name="v2"))
    steps.append(watch.watcher.state())
    del watch.state.nodes["n2"], watch.state.classes["keep"], watch.state.budgets["ns", "keep"]
    del watch.state.namespaces["ns"], watch.state.claims["ns", "data"], watch.state.volumes["v1"]
    watch.bound("p0", "n3")
    steps.append(watch.watcher.state())
    for number, (before, after) in enumerate(pairwise(steps), 1):
        chain.append(encode_changes(before, after, PassInputs(now_ms=NOW + number)))
    for number, (state, moment) in enumerate(frames(chain)):
        assert same_state(state, steps[number])
        assert moment.now_ms == NOW + number
    assert same_state(read(chain[:2])[0], steps[1])


NAMES = st.sampled_from("abc")
LABELS = st.dictionaries(NAMES, NAMES, max_size=2)
TERMS = st.lists(st.just(LOCAL) | st.just(NodeSelectorTerm()), max_size=2).map(tuple)
KINDS = (
    st.builds(Namespace, name=NAMES, labels=LABELS)
    | st.builds(Claim, namespace=NAMES, name=NAMES, volume=NAMES | st.just(""), exclusive=st.booleans())
    | st.builds(Volume, name=NAMES, node_affinity=TERMS)
)


@given(st.lists(st.lists(KINDS, max_size=6), min_size=1, max_size=5))
def test_whatever_comes_changes_and_goes_every_moment_is_read_as_it_was(moments: list[list[object]]) -> None:
    """Namespaces, claims and volumes, each moment others: equal to the byte once more, and as the pass saw them."""
    states = [state_of(*objects) for objects in moments]
    chain = [
        encode_keyframe(states[0], MOMENT),
        *(encode_changes(one, other, MOMENT) for one, other in pairwise(states)),
    ]
    for (found, moment), state in zip(frames(chain), states, strict=True):
        assert same_state(found, state)
        assert encode_keyframe(found, moment) == encode_keyframe(state, MOMENT)
        assert moment.snapshot(found, TREE) == MOMENT.snapshot(state, TREE)


def test_an_entry_holds_only_what_changed() -> None:
    """One pod of hundreds costs a few hundred bytes, nothing at all fewer still."""
    watch = Watch(*OBJECTS, [pod(f"many-{i}", queue="test", node="n1") for i in range(500)])
    before = watch.watcher.state()
    watch.gone("many-7")
    whole, one, none = (
        encode_keyframe(before, MOMENT),
        encode_changes(before, watch.state, MOMENT),
        encode_changes(before, before, MOMENT),
    )
    assert len(none) < len(one) < len(none) + 40 < len(whole) / 10


def test_of_a_pod_that_changes_only_the_change_is_kept() -> None:
    """Whatever changes, also back to what it is without."""
    labelled = {f"label-{i}": "a value of some length" for i in range(50)}
    watch = Watch(ask("a", queue="prod", labels=labelled, node_selector={"zone": "a"}))
    start, chain = watch.watcher.state(), [encode_keyframe(watch.state, MOMENT)]
    for change in (
        {"unschedulable_message": "0/5 nodes are available", "terminating": True},
        {"node": "n1", "unschedulable_ms": None, "unschedulable_message": "", "started_ms": 5},
        {"node_selector": {}, "host_ports": (HostPort(80),), "requests": {}},
    ):
        before = watch.watcher.state()
        watch.put(msgspec.structs.replace(watch.state.pods["uid-a"], **change))
        chain.append(encode_changes(before, watch.state, PassInputs(now_ms=NOW)))
        assert len(chain[-1]) < 250
        assert same_state(read(chain)[0], watch.state)
    assert same_state(read(chain[:1])[0], start)


@given(seed=st.integers(0, 2**32))
def test_the_order_of_what_is_said_changes_neither_bytes_nor_decisions(seed: int) -> None:
    """Pods, labels and requests in any order give the same journal and the same decisions."""
    state = state_of(*OBJECTS)
    other = shuffled(state, seed)
    assert encode_keyframe(state, MOMENT) == encode_keyframe(other, MOMENT)
    assert encode_changes(ClusterState(), state, MOMENT) == encode_changes(ClusterState(), other, MOMENT)
    assert documents(replay(state, MOMENT, TREE, DECIDE)) == documents(replay(other, MOMENT, TREE, DECIDE))


def test_a_replay_is_the_pass_itself_holds_included() -> None:
    """What an interlock held takes nothing from those after it, then as now."""
    state = state_of(*OBJECTS)
    found = plan(MOMENT.snapshot(state, TREE), TREE, DECIDE, hold=MOMENT.hold)
    assert holds_of(found) == MOMENT.holds
    again_state, again_moment = read([encode_keyframe(state, MOMENT)])
    assert replay(again_state, again_moment, TREE, DECIDE) == found
    free = replay(state, msgspec.structs.replace(MOMENT, holds={}), TREE, DECIDE)
    assert documents(free) != documents(found)


ELSEWHERE = """
import hashlib, json, sys
from engine.model.decision import encode
from engine.formats.tree_json.canonical import decode_tree
from engine.planning.journal import encode_keyframe, read, replay
from engine.policies import policy
from engine.model.snapshot import ClusterState
tree, blob = (bytes.fromhex(text) for text in json.load(sys.stdin))
state, moment = read([blob])
found = replay(state, moment, decode_tree(tree), policy("fence", "design"))
digest = hashlib.sha256(b"".join(encode(one.decision) for one in found)).hexdigest()
print(json.dumps([encode_keyframe(state, moment) == blob, digest]))
"""


@pytest.mark.parametrize("hash_seed", ["0", "1", "4294967295"])
def test_another_process_with_another_hash_seed_finds_the_same(hash_seed: str) -> None:
    """Bytes of journal and decisions."""
    blob = encode_keyframe(state_of(*OBJECTS), MOMENT)
    here = hashlib.sha256(b"".join(documents(replay(*read([blob]), TREE, DECIDE)))).hexdigest()
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        input=json.dumps([encode_tree(TREE).hex(), blob.hex()]),
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [True, here]


@given(cut=st.integers(1, 200), flip=st.integers(1, 255), place=st.integers(1, 10_000))
def test_a_torn_entry_is_told_from_a_whole_one(cut: int, flip: int, place: int) -> None:
    """Cut short or altered anywhere behind its beginning: never another state."""
    blob = encode_keyframe(state_of(*OBJECTS), MOMENT)
    with pytest.raises(CorruptJournalError):
        read([blob[:-cut]])
    place = 3 + place % (len(blob) - 3)  # zlib's own two bytes before that have bits that mean nothing to a reader
    altered = bytearray(blob)
    altered[place] ^= flip
    with pytest.raises(CorruptJournalError):
        read([bytes(altered)])


def test_a_chain_with_a_gap_at_its_beginning_is_torn() -> None:
    """A difference to nothing, or a second beginning, says nothing; so does no entry at all."""
    state = state_of(*OBJECTS)
    whole, step = encode_keyframe(state, MOMENT), encode_changes(ClusterState(), state, MOMENT)
    elsewhere = state_of(*OBJECTS, ask("another", queue="prod"))
    change = encode_changes(elsewhere, state_of(*OBJECTS, ask("another", queue="prod", priority=7)), MOMENT)
    for chain in ([], [b""], [step], [whole, whole], [whole, change]):
        with pytest.raises(CorruptJournalError):
            read(chain)


def test_another_form_is_named() -> None:
    """An entry of another version is not torn."""
    blob = encode_keyframe(state_of(*OBJECTS), MOMENT)
    with pytest.raises(JournalVersionError, match=f"form {FORM_OF_PIECES + 1}"):
        read([bytes([FORM_OF_PIECES + 1]) + blob[1:]])


def test_a_keyframe_in_pieces_gives_back_the_state_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece has a few objects of one kind; what follows changes the whole."""
    monkeypatch.setattr(journal, "PIECE", 2)
    before, after = state_of(*OBJECTS), state_of(*OBJECTS, node("n9"))
    pieces = list(encode_pieces(before, MOMENT))
    assert len(pieces) == count_pieces(before) > 5
    [first, second] = (
        (place, same_state(state, seen), moment)
        for (place, state, moment), seen in zip(
            numbered_frames([*pieces, encode_changes(before, after, MOMENT)]), (before, after), strict=True
        )
    )
    assert first == (len(pieces) - 1, True, MOMENT)
    assert second == (len(pieces), True, MOMENT)


def test_a_keyframe_without_all_its_pieces_is_torn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it ends too early, or goes on with changes."""
    monkeypatch.setattr(journal, "PIECE", 2)
    state = state_of(*OBJECTS)
    pieces, change = list(encode_pieces(state, MOMENT)), encode_changes(state, state, MOMENT)
    for chain in (pieces[:-1], pieces[1:], [*pieces[:-1], change], [change, *pieces]):
        with pytest.raises(CorruptJournalError):
            read(chain)


def test_changes_of_known_pods_are_found_without_the_others() -> None:
    """As many bytes as when all are compared."""
    before, after = state_of(*OBJECTS), state_of(*OBJECTS, pod("new", queue="test", node="n1"))
    assert encode_changes(before, after, MOMENT, {"uid-new"}) == encode_changes(before, after, MOMENT)
    assert not same_state(before, after, {"uid-new"})
    assert same_state(before, before.copy(), set())
