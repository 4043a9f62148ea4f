"""The search for nodes of a gang looks at few of them, and finds what a search finds that looks at all."""

from functools import partial
from random import Random

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.decision import Decision, Outcome
from engine.model.objects import Node, Pod, SchedulingGroup
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.planning.scheduling_pass import plan
from engine.policies import policy
from engine.policies.fence.groups import search
from engine.policies.fence.groups.node_order import NodeOrder, Option, nothing_known
from engine.policies.fence.groups.search import GangSearch
from engine.policies.fence.groups.units import Cost
from tests.builders import OPTED_OUT, ask, budget, node, pod, pod_group, queue, snapshot, tree
from tests.properties import examples


def crowd(random: Random) -> tuple[Snapshot, QueueTree]:
    """Up to twenty nodes of pods, many in groups that go whole, and up to two gangs of up to six pods."""
    nodes, cores, alike = random.choice((3, 8, 20)), random.choice((6, 12)), random.random() < 0.4
    rings = [f"ring-{number}" for number in range(random.choice((1, 3, 9)))]
    share = random.choice((0, 0.3, 0.8))
    pods: list[Pod] = []
    for on in range(nodes):
        left = cores - random.choice((0, 0, 2))
        while left > 0:
            cpu = 1 if alike else min(left, random.choice((1, 1, 2, 3)))
            left -= cpu
            pods.append(running(random, f"p-{on:02}-{left:02}", f"n{on:02}", cpu, rings, share))
    gangs = [one for number in range(2) for one in gang(random, f"gang-{number}")]
    shape = tree(
        {
            "root": queue(max=random.choice((None, None, nodes * cores - 3))),
            "prod": queue(random.choice((12, 99))),
            "test": queue(random.choice((None, 4, nodes * cores // 3))),
            "dev.a": queue(random.choice((None, 3))),
            "dev.b": queue(),
        }
    )
    groups = [pod_group(name, whole=random.random() < 0.8, priority=random.choice((0, 1, 3))) for name in rings]
    budgets = [budget(random.choice((1, 3)), app="db")] if random.random() < 0.4 else []
    every = [node(f"n{on:02}", cores) for on in range(nodes)]
    return snapshot(shape, every, pods, groups, gangs, budgets, OPTED_OUT), shape


def running(random: Random, name: str, on: str, cpu: int, rings: list[str], share: float) -> Pod:
    """A pod of any queue, perhaps of a group, that opted out, or that is terminating."""
    return pod(
        name,
        node=on,
        cpu=cpu,
        queue=random.choice(("test", "test", "dev.a", "dev.b")),
        app=f"app-{random.randrange(9)}",
        priority=random.choice((0, 0, 1)),
        created_ms=random.randrange(5) * 1000,
        started_ms=random.randrange(50) * 1000,
        scheduling_group=random.choice(rings) if random.random() < share else "",
        priority_class="keep" if random.random() < 0.04 else "",
        terminating=random.random() < 0.03,
        labels={"app": "db"} if random.random() < 0.1 else {},
    )


def gang(random: Random, name: str) -> list[Pod | SchedulingGroup]:
    """Pods of one or two shapes that have to run together."""
    size, sizes = random.choice((1, 3, 6)), random.choice(((2,), (4,), (2, 5)))
    pods = [
        ask(
            f"{name}-{k}",
            queue="prod",
            cpu=sizes[k % len(sizes)],
            app=name,
            controller=f"Job/{name}",
            priority=2,
            created_ms=k,
            scheduling_group=name,
        )
        for k in range(size)
    ]
    return [*pods, pod_group(name, at_once=size, priority=2)]


def decided(at: Snapshot, shape: QueueTree, last_resort: str) -> list[Decision]:
    """The decisions of a pass."""
    return [one.decision for one in plan(at, shape, policy("fence", "design", {"last_resort": last_resort}))]


def plain(patch: pytest.MonkeyPatch) -> None:
    """Look at every node for every member, with and without whole groups, whatever was found before."""

    def level(self: GangSearch, member: Pod, _before: object) -> search._Level:
        shape = self._shapes.shape_of(member)
        if self._checks[shape].local and shape not in self._ranked:
            self._first_order(member, shape, self._allowances.excess(member.requests))
        order = NodeOrder((), nothing_known(np.flatnonzero(self._checks[shape].open).tolist()))
        look = partial(self._look, member, shape, search._Looks())
        return search._Level(shape, order, order.walk(look), ())

    def without_groups(self: GangSearch, shape: bytes, place: int) -> tuple[Option | None, Cost | None]:
        left, whole = self._left_on(place), self._candidates.units.whole
        alone = [unit for unit in left if not whole[unit.lead]]
        return self._among(alone, shape, place), () if len(alone) < len(left) else None

    patch.setattr(GangSearch, "_level", level)
    patch.setattr(GangSearch, "_without_groups", without_groups)


@given(seed=st.integers(0, 2**32), last_resort=st.sampled_from(["daemonset", "any"]))
@examples(60)
def test_it_finds_what_a_plain_search_finds(seed: int, last_resort: str) -> None:
    """Byte by byte, in whole passes."""
    found = decided(*crowd(Random(seed)), last_resort)
    with pytest.MonkeyPatch.context() as patch:
        plain(patch)
        assert msgspec.json.encode(decided(*crowd(Random(seed)), last_resort)) == msgspec.json.encode(found)


@given(seed=st.integers(0, 2**32))
@examples(60)
def test_where_it_says_that_too_little_is_there_nothing_is_found(seed: int) -> None:
    """Also if the search goes on in spite of it."""
    said = list[bool]()
    with pytest.MonkeyPatch.context() as patch:
        shortage, find = GangSearch._too_little, GangSearch.find

        def too_little(self: GangSearch, members: tuple[Pod, ...]) -> bool:
            said.append(shortage(self, members))
            return False

        def found(self: GangSearch, members: tuple[Pod, ...]) -> search.GangPlan | None:
            said.clear()
            plan = find(self, members)
            assert plan is None or not any(said)
            return plan

        patch.setattr(GangSearch, "_too_little", too_little)
        patch.setattr(GangSearch, "find", found)
        decided(*crowd(Random(seed)), "daemonset")


def full(number: int, cores: int = 2) -> list[Node | Pod]:
    """Nodes with one pod each."""
    return [
        one
        for on in range(number)
        for one in (node(f"n{on}", cores), pod(f"p-{on}", queue="test", cpu=cores, node=f"n{on}"))
    ]


@pytest.mark.parametrize(("room", "test"), [(4, None), (9, 8)])
def test_a_gang_with_too_little_room_or_too_little_to_take_is_no_candidate(room: int, test: int | None) -> None:
    """Not one for which the search gave up: there are four nodes, or one core for each of the last pods."""
    shape = tree({"prod": queue("99"), "test": queue(test)})
    members = [ask(f"gang-{k}", queue="prod", cpu=2, app="gang", priority=1, scheduling_group="gang") for k in range(6)]
    at = snapshot(shape, full(room), members, pod_group("gang", at_once=6, priority=1))
    assert policy("fence", "design")(at, shape, members[0]).outcome is Outcome.NO_CANDIDATE
