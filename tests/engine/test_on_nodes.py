"""What stands on each node: whatever happens in between, what is told to have changed is all that has."""

from random import Random

import msgspec
import pytest

from engine.model.columns import group_codes
from engine.model.objects import Node, Pod, Taint
from engine.model.snapshot import ClusterState, Protection, Reservation, Snapshot
from engine.model.snapshot.node_listing import ListedNode, ListedPod, Marks, PodPhase, part_of, pods_at
from tests.builders import NOW, amounts, ask, node, pod
from tests.engine.test_freezing import PLAIN, TREES

Picture = dict[str, tuple[ListedNode | None, tuple[ListedPod, ...]]]


def frozen(state: ClusterState, tree: int = 0) -> Snapshot:
    """The state as a pass sees it."""
    return state.snapshot(TREES[tree], now_ms=NOW, protection=Protection(min_run_ms=1))


def picture(snapshot: Snapshot) -> Picture:
    """All that there is to tell, worked out from the objects alone."""
    found: dict[str, list[Pod]] = {one.name: [] for one in snapshot.nodes}
    for one in snapshot.frozen.pods:
        found.setdefault(one.node or part_of(one.namespace, one.application), []).append(one)
    known = {one.name: one for one in snapshot.nodes}
    return {
        place: (
            None if place.startswith("/") else ListedNode.of(place, known.get(place), pods),
            tuple(map(ListedPod.of, pods)),
        )
        for place, pods in found.items()
    }


def happen(state: ClusterState, random: Random) -> None:
    """Something happens to a pod or a node."""
    number = random.randrange(30)
    uid, where = f"u{number}", random.choice([None, "n1", "n2", "n3", "gone"])
    match random.randrange(5):
        case 0:
            state.pods.pop(uid, None)
        case 1 | 2:
            wanted = random.choice(["root.a", "root.t.b", "root.t.dyn", "root.t.b.below"])
            new = pod(f"p{number}", uid=uid, node=where, created_ms=random.randrange(9), namespace=f"ns-{number % 3}")
            state.pods[uid] = msgspec.structs.replace(new, queue_label=wanted, finished=random.random() < 0.1)
        case 3 if uid in state.pods:
            state.pods[uid] = msgspec.structs.replace(state.pods[uid], terminating=random.random() < 0.7)
        case _:
            name = f"n{random.randrange(4)}"
            if random.random() < 0.3:
                state.nodes.pop(name, None)
            else:
                state.nodes[name] = node(name, random.randrange(1, 5), ready=random.random() < 0.8)


@pytest.mark.parametrize("seed", range(12))
def test_no_change_is_missed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is told otherwise than in the snapshot before is among what may have changed."""
    monkeypatch.setattr(group_codes, "_SPARE", 2)
    random, state = Random(seed), ClusterState()
    before, marks = Picture(), None
    for _ in range(40):
        for _ in range(random.choice([0, 1, 3])):
            happen(state, random)
        snapshot = frozen(state, random.choice([0, 0, 1]) if seed % 2 else seed // 2 % 3)
        now, then, marks = picture(snapshot), marks, Marks.of(snapshot)
        differing = {place for place in now.keys() | before.keys() if now.get(place) != before.get(place)}
        told = marks.places if then is None else marks.changed(then, snapshot)
        assert differing <= told
        assert marks.places == now.keys()
        assert {place for place in told if marks.has(place)} == told & now.keys()
        on = pods_at(snapshot, sorted(marks.places))
        assert {place: tuple(map(ListedPod.of, pods)) for place, pods in on.items()} == {
            place: pods for place, (_, pods) in now.items() if pods
        }
        before = now


def crowd() -> ClusterState:
    """Twenty nodes with five pods each, and four pods that wait."""
    state = ClusterState()
    state.nodes.update({f"n{k}": node(f"n{k}", 8) for k in range(20)})
    pods = [pod(f"p{k}", node=f"n{k % 20}", queue="a", app=f"app-{k % 7}") for k in range(100)]
    pods += [ask(f"w{k}", queue="a", app=f"app-{k}") for k in range(4)]
    state.pods.update({one.uid: one for one in pods})
    return state


def test_a_quiet_cluster_changes_nowhere() -> None:
    """From the third snapshot on, when who is whose first pod is known, nothing is looked at again."""
    state = crowd()
    frozen(state)
    marks = Marks.of(frozen(state))
    for _ in range(3):
        later = frozen(state)
        now = Marks.of(later)
        quiet, marks = now.changed(marks, later), now
    assert quiet == set()


def test_only_where_something_happened_is_looked_at() -> None:
    """A pod that is deleted, one that comes, one that moves, a node that is cordoned."""
    state = crowd()
    for _ in range(3):
        marks = Marks.of(frozen(state))
    state.pods["p99"] = msgspec.structs.replace(next(p for p in state.pods.values() if p.name == "p30"), uid="p99")
    gone = next(one for one in state.pods.values() if one.name == "p41")
    del state.pods[gone.uid]
    state.nodes["n7"] = msgspec.structs.replace(state.nodes["n7"], unschedulable=True)
    later = frozen(state)
    assert {"n10", "n1", "n7"} <= Marks.of(later).changed(marks, later) <= {"n10", "n1", "n7", "n0", "n2"}


def test_what_is_expected_to_go_is_told_as_the_cluster_shows_it() -> None:
    """Whom a decision takes is said by the decision; here stands what the cluster says, in a pass put in order once."""
    snapshot = frozen(crowd())
    taken = next(one for one in snapshot.pods if one.name == "p5")
    room = Reservation(ask_uid="waits", node="n5", queue="root.a", requests=amounts("1"))
    later = snapshot.expecting([taken]).reserving(room)
    assert later.frozen is snapshot.frozen
    assert not next(one for one in pods_at(later, ["n5"])["n5"] if one.name == "p5").terminating


def test_a_node_tells_its_state_in_short() -> None:
    """Amounts with what leaves, taints as kubectl writes them, pods that nobody can read."""
    there = node("n1", 4, unschedulable=True, taints=(Taint("gpu", "yes"), Taint("dedicated", effect="NoExecute")))
    pods = [pod("a", node="n1"), pod("b", node="n1", terminating=True), pod("c", node="n1", cpu=0, unread=True)]
    told = ListedNode.of("n1", there, pods)
    assert (told.ready, told.unschedulable, told.there) == (True, True, True)
    assert told.taints == ("gpu=yes:NoSchedule", "dedicated:NoExecute")
    assert told.used["cpu"] == amounts("2")["cpu"]
    assert (told.pods, told.leaving, told.unknown) == (3, 1, 1)
    assert not ListedNode.of("n2", None, []).there


def test_how_far_a_pod_has_come() -> None:
    """Since when it runs, starts or waits."""
    on = pod("a", node="n1", started_ms=None, created_ms=5)
    assert (ListedPod.of(on).phase, ListedPod.of(on).since_ms) == (PodPhase.STARTING, 5)
    runs = msgspec.structs.replace(on, started_ms=7)
    assert (ListedPod.of(runs).phase, ListedPod.of(runs).since_ms) == (PodPhase.RUNNING, 7)
    waits = ask("b", created_ms=5, unschedulable_ms=9)
    assert (ListedPod.of(waits).phase, ListedPod.of(waits).since_ms) == (PodPhase.PENDING, 9)
    held = msgspec.structs.replace(waits, gated=True, unschedulable_ms=None)
    assert (ListedPod.of(held).phase, ListedPod.of(held).since_ms) == (PodPhase.GATED, 5)


def test_nodes_of_a_cluster_without_pods() -> None:
    """They are told all the same."""
    state = ClusterState()
    state.nodes["n1"] = Node(name="n1")
    snapshot = state.snapshot(PLAIN, now_ms=NOW)
    assert Marks.of(snapshot).places == {"n1"}
