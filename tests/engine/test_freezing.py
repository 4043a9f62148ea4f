"""A snapshot that is carried on from the one before is the one that would be made from nothing."""

from collections.abc import Iterator
from itertools import pairwise
from operator import attrgetter
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from engine.model.columns import group_codes
from engine.model.columns.node_columns import Columns
from engine.model.objects import (
    AffinityTerm,
    Claim,
    DisruptionBudget,
    HostPort,
    Namespace,
    Node,
    Pod,
    PriorityClass,
    Requirement,
    Volume,
)
from engine.model.placement_rules import Rule, RuleName
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Protection, Snapshot
from engine.policies import known_dialects, policy
from engine.policies.common.pod_index import pod_index_of
from tests.builders import MINUTE, NOW, amounts, queue, tree
from tests.engine.plain_snapshot import (
    KIND_KEYS,
    expendability,
    plain_columns,
    plain_expendable_first,
    plain_most_on_a_node,
    plain_snapshot,
)

if TYPE_CHECKING:
    from engine.model.columns.distinct import ItemGroups

PLAIN = tree({"a": queue(namespaces=("ns-0",)), "t": queue(), "t.b": queue(evict_uncontrolled=True)})
PROVIDED = Rule(name=RuleName.PROVIDED, create=True)
ABOVE = Rule(name=RuleName.TAG, value="namespace.parentqueue", create=True)
TREES = (PLAIN, QueueTree(PLAIN.queues.values(), [ABOVE, PROVIDED]), QueueTree(PLAIN.queues.values()))
PROTECTIONS = (None, Protection(), Protection(min_run_ms=MINUTE), Protection(namespaces=frozenset({"ns-1"})))
TERM = AffinityTerm("zone", (Requirement("app", "In", ("x",)),), (), (Requirement("team", "In", ("y",)),))
REQUESTS = tuple(amounts({"cpu": cpu, "pods": 1}) for cpu in (1, 2))
NODES = (
    Node(name="", allocatable=amounts({"cpu": 2}), labels={"zone": "a"}),
    Node(name="", allocatable=amounts({"cpu": 2}), labels={"zone": "b", "gpu": ""}, ready=False),
    Node(name="", allocatable=amounts({"cpu": 3, "gpu": 1}), labels={"zone": "a"}, unschedulable=True),
    Node(name="", allocatable=amounts({"cpu": 3, "gpu": 0}), uid="another"),
)
LABELS: tuple[dict[str, str], ...] = ({}, {"app": "x"}, {"app": "x"})


class Carrying(RuleBasedStateMachine):
    """A cluster in which anything may happen between two snapshots, and a copy that goes a way of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.spare, group_codes._SPARE = group_codes._SPARE, 2
        self.state = ClusterState()
        self.other = self.state.copy()
        self.tree, self.protection = PLAIN, PROTECTIONS[0]

    def teardown(self) -> None:
        """As it was."""
        group_codes._SPARE = self.spare

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        """With enough pods that a few changes are few."""
        random = Random(seed)
        for number in range(30):
            self.state.pods[str(number)] = _pod(random, str(number))
        for number in range(4):
            self.state.nodes[f"n-{number}"] = Node(name=f"n-{number}")

    @rule(seed=st.integers(0, 2**32), many=st.sampled_from([1, 1, 3, 40]))
    def pods_come_and_change(self, seed: int, many: int) -> None:
        """As a watch tells it."""
        random = Random(seed)
        for _ in range(many):
            uid = str(random.randrange(45))
            self.state.pods[uid] = _pod(random, uid)

    @rule(seed=st.integers(0, 2**32))
    def a_field_changes(self, seed: int) -> None:
        """Of one pod, as most changes are."""
        random = Random(seed)
        uid = random.choice(sorted(self.state.pods) or [""])
        if uid:
            changed = random.choice([{"terminating": True}, {"priority": 7}, {"started_ms": NOW}, {"node": "n-1"}])
            self.state.pods[uid] = msgspec.structs.replace(self.state.pods[uid], **changed)

    @rule(uid=st.integers(0, 44).map(str))
    def a_pod_goes(self, uid: str) -> None:
        """Or was not there."""
        self.state.pods.pop(uid, None)

    @rule(seed=st.integers(0, 2**32))
    def a_list_is_read_anew(self, seed: int) -> None:
        """In another order, with one pod more or less."""
        random = Random(seed)
        every = list(self.state.pods.items())
        random.shuffle(every)
        self.state.pods.clear()
        self.state.pods.update(every[1:])

    @rule(number=st.integers(0, 5), like=st.sampled_from(NODES), there=st.booleans())
    def a_node_comes_changes_or_goes(self, number: int, like: Node, *, there: bool) -> None:
        """Pods may still be bound to it, or were before."""
        name = f"n-{number}"
        _put(self.state.nodes, name, msgspec.structs.replace(like, name=name) if there else None)

    @rule(name=st.sampled_from(["", "low"]), opted_out=st.booleans(), there=st.booleans())
    def a_class_changes(self, name: str, *, opted_out: bool, there: bool) -> None:
        """It says something of all pods of it."""
        _put(self.state.classes, name, PriorityClass(name=name, opted_out=opted_out) if there else None)

    @rule(name=st.sampled_from(["ns-0", "ns-1"]), parent=st.sampled_from(["", "root.t", "root.x"]), there=st.booleans())
    def a_namespace_changes(self, name: str, parent: str, *, there: bool) -> None:
        """It may say where its pods belong, and have labels."""
        _put(self.state.namespaces, name, Namespace(name=name, parent_queue=parent) if there else None)

    @rule(allowed=st.integers(0, 3), there=st.booleans())
    def what_no_pod_shows_changes(self, allowed: int, *, there: bool) -> None:
        """Disruption budgets, claims, volumes."""
        budget = DisruptionBudget(namespace="ns-0", name="b", allowed=allowed)
        claim = Claim(namespace="ns-0", name="c", volume=str(allowed))
        _put(self.state.budgets, ("ns-0", "b"), budget if there else None)
        _put(self.state.claims, ("ns-0", "c"), claim if there else None)
        _put(self.state.volumes, "v", Volume(name="v") if there else None)

    @rule(shape=st.sampled_from(TREES), protection=st.sampled_from(PROTECTIONS))
    def the_rules_change(self, shape: QueueTree, protection: Protection | None) -> None:
        """A revision is published, or a protection set."""
        self.tree, self.protection = shape, protection

    @rule(scheduler=st.sampled_from(["", "yunikorn"]))
    def the_scheduler_changes(self, scheduler: str) -> None:
        """It is known by now that YuniKorn runs there, or that it no longer does."""
        self.state.scheduler = scheduler

    @rule()
    def a_copy_goes_its_own_way(self) -> None:
        """From here on both are fed, one after the other."""
        self.state, self.other = self.other, self.state.copy()

    @rule(now_ms=st.sampled_from([NOW - MINUTE, NOW, NOW, NOW + 1]), looks=st.integers(0, 3), own=st.integers(0, 2))
    def a_snapshot_is_taken(self, now_ms: int, looks: int, own: int = 0) -> None:
        """Of a copy or not; what is asked of it is what the next one carries on. Some changes are in the copy alone."""
        state = self.state if looks == 0 else self.state.copy()
        for uid in list(state.pods)[:own] if looks else ():
            state.pods[uid] = msgspec.structs.replace(state.pods[uid], unschedulable_message="no room")
        got = state.snapshot(self.tree, now_ms=now_ms, protection=self.protection)
        want = plain_snapshot(state, self.tree, now_ms, self.protection)
        assert msgspec.structs.replace(got, tree=PLAIN) == msgspec.structs.replace(want, tree=PLAIN)
        assert got.tree.queues == want.tree.queues
        assert got.asks == want.asks
        if not self.tree.placement:  # where a leaf can't be is known of the snapshot alone
            told = {pod.uid: state.queue_of(state.pods[pod.uid], self.tree) for pod in got.pods}
            assert told == {pod.uid: pod.queue for pod in got.pods}
        assert got.unread == want.unread
        if looks > 1:
            assert _told(got.columns) == plain_columns(want)
            assert got.pods_by_node == want.pods_by_node
        if looks > 2:
            _look_as_fence(got, want)
            _decide_alike(got, want)

    @rule()
    def two_in_turn(self) -> None:
        """A later one need not have been looked at."""
        for looks in (3, 0, 2):
            self.a_snapshot_is_taken(NOW, looks)
            self.a_pod_goes("3")


TestCarrying = Carrying.TestCase
TestCarrying.settings = settings(stateful_step_count=30, max_examples=100)


def test_pods_that_did_not_change_are_the_same_ones() -> None:
    """So is what was worked out of them: nothing is looked at again."""
    state, random = ClusterState(), Random(1)
    state.namespaces.update({name: Namespace(name=name) for name in ("ns-0", "ns-1")})
    for number in range(100):
        state.pods[str(number)] = _pod(random, str(number))
    before = state.copy().snapshot(PLAIN, now_ms=NOW, protection=Protection())
    state.pods["7"] = msgspec.structs.replace(state.pods["7"], labels={"new": "label"})
    after = state.copy().snapshot(PLAIN, now_ms=NOW + 1, protection=Protection())
    was = {pod.uid: pod for pod in before.pods}
    assert {pod.uid for pod in after.pods if was[pod.uid] is not pod} == {"7"}


def test_pods_stay_the_same_ones_after_a_copy_was_looked_at_that_had_changes_of_its_own() -> None:
    """As a pass changes what the scheduler says of a pod, in its own copy alone."""
    state, random = ClusterState(), Random(1)
    state.namespaces.update({name: Namespace(name=name) for name in ("ns-0", "ns-1")})
    for number in range(100):
        state.pods[str(number)] = _pod(random, str(number))
    state.copy().snapshot(PLAIN, now_ms=NOW, protection=Protection())
    copy = state.copy()
    copy.pods["7"] = msgspec.structs.replace(copy.pods["7"], labels={"of": "the copy"})
    was = {pod.uid: pod for pod in copy.copy().snapshot(PLAIN, now_ms=NOW, protection=Protection()).pods}
    state.pods["8"] = msgspec.structs.replace(state.pods["8"], labels={"new": "label"})
    after = state.copy().snapshot(PLAIN, now_ms=NOW + 1, protection=Protection())
    assert {pod.uid for pod in after.pods if was[pod.uid] is not pod} == {"7", "8"}


def test_what_a_node_holds_at_most_is_known_of_amounts_near_the_limit_of_64_bits() -> None:
    """One pod requests very much; the bound of what a node can hold of such pods is not multiplied beyond 64 bits."""
    state = ClusterState()
    state.nodes["n"] = Node(name="n")
    for number, amount in enumerate([2**58, *[1] * 40]):
        requests = {"example.com/dust": amount}
        state.pods[str(number)] = Pod(uid=str(number), namespace="a", name=str(number), node="n", requests=requests)
    snapshot = state.snapshot(PLAIN, now_ms=NOW)
    pods = [msgspec.structs.replace(pod, queue="root") for pod in snapshot.pods]
    pod_index = pod_index_of(msgspec.structs.replace(snapshot, pods=tuple(pods)), PLAIN)
    for amount, exceeds in ((2**58 + 39, True), (2**58 + 40, False)):
        found = pod_index.exceeds_on_a_node("example.com/dust", np.full(pod_index.nobody + 1, amount))
        assert bool(found[pod_index.number["root"]]) is exceeds


def _pod(random: Random, uid: str) -> Pod:
    node = random.choice([None, *(f"n-{number}" for number in range(6))])
    return Pod(
        uid=uid,
        namespace=f"ns-{int(uid) % 2}",
        name=f"p-{random.randrange(3)}-{int(uid) % 5}",
        created_ms=random.randrange(4),
        started_ms=random.choice([None, 1, 2, NOW - 1, NOW, NOW + 1]) if node else None,
        requests=random.choice(REQUESTS),
        labels=random.choice(LABELS),
        node=node,
        finished=random.random() < 0.1,
        terminating=random.random() < 0.1,
        priority=random.choice([0, 1, 100]),
        priority_class=random.choice(["", "low"]),
        controller=random.choice(["", "ReplicaSet/r", "DaemonSet/d"]),
        gated=random.random() < 0.1,
        scheduler=random.choice(["yunikorn", "yunikorn", "default-scheduler"]),
        host_ports=random.choice([(), (), (HostPort("TCP", "", 80),)]),
        anti_affinity=random.choice([(), (), (), (TERM,)]),
        claims=random.choice([(), (), ("c",)]),
        queue_label=random.choice(["", "a", "root.t.b", "root.x", "root.x.y"]),
        application_label=random.choice(["", "app-0", "app-1"]),
        unread=random.random() < 0.05,
    )


def _put(column: dict[Any, Any], key: Any, one: Any) -> None:
    if one is None:
        column.pop(key, None)
    else:
        column[key] = one


def _look_as_fence(got: Snapshot, want: Snapshot) -> None:
    """What ``fence`` keeps from one snapshot for the next is what it would find in this one."""
    pod_index = pod_index_of(got, got.tree)
    pods = got.columns.pods
    order = [pods[row] for row in pod_index.order.rows]
    assert order == plain_expendable_first(want)
    begins = np.diff(pod_index.order.stretch[pod_index.order.rows]) > 0
    differ = [(one.node, *expendability(one)) != (two.node, *expendability(two)) for one, two in pairwise(order)]
    assert begins.tolist() == differ
    assert [pod_index.row_queue[row] for row in range(len(pods))] == [pod_index.queue_of(pod.queue) for pod in pods]
    kinds = pod_index.kinds.of
    assert pod_index.priority[kinds].tolist() == [pod.priority for pod in pods]
    assert pod_index.opted_out[kinds].tolist() == [pod.opted_out for pod in pods]
    assert pod_index.daemonset[kinds].tolist() == [pod.daemonset for pod in pods]
    assert pod_index.shielded[kinds].tolist() == [bool(pod.shield) for pod in pods]
    applications = [pod_index.application_of(pod) for pod in pods]
    assert pod_index.application[kinds].tolist() == applications
    assert pod_index.amounts("cpu")[kinds].tolist() == [pod.requests.get("cpu", 0) for pod in pods]
    assert set(pod_index.resources) == {name for pod in got.pods if pod.node is not None for name in pod.requests}
    for amount in (0, 1000, 3000):
        exceeds = pod_index.exceeds_on_a_node("cpu", np.full(pod_index.nobody + 1, amount))
        most = [plain_most_on_a_node(want, path, "cpu") for path in pod_index.paths]
        assert exceeds[:-1].tolist() == [amount < there for there in most]


def _decide_alike(got: Snapshot, want: Snapshot) -> None:
    """What is kept from one snapshot for the next changes no decision, of whichever policy that looks at nodes."""
    for name, dialects in known_dialects().items():
        for dialect in dialects if name in ("fence", "priority", "deserved") else ():
            decide = policy(name, dialect)
            for pod in got.asks[:2]:
                assert decide(got, got.tree, pod) == decide(want, got.tree, pod)


def _told(columns: Columns) -> dict[str, Any]:
    return dict(_columns(columns)) | _of_nodes(columns)


def _of_nodes(columns: Columns) -> dict[str, Any]:
    numbers, values = columns.label("zone")
    return {
        "allocatable": columns.allocatable("cpu").tolist(),
        "capacity": columns.of_nodes.capacity,
        "ready": (~columns.not_ready).tolist(),
        "cordoned": columns.unschedulable.tolist(),
        "resources": set(columns.of_nodes.resources),
        "label_keys": set(columns.of_nodes.label_keys),
        "zones": [values[number] if number >= 0 else None for number in numbers],
    }


def _columns(columns: Columns) -> Iterator[tuple[str, Any]]:
    for name in ("pods", "stray"):
        yield name, list(getattr(columns, name))
    for name in ("node", "priority", "started", "first", "leaving", "shielded", "unread"):
        yield name, getattr(columns, name).tolist()
    for name, key in KIND_KEYS.items():
        kinds: ItemGroups = attrgetter(name)(columns)
        alike = [key(pod) for pod in kinds.each]
        assert len(set(alike)) == len(alike)
        assert kinds.times.tolist() == np.bincount(kinds.of, minlength=len(alike)).tolist()
        yield name, [alike[kind] for kind in kinds.of]
