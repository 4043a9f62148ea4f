"""What the simulated kube-scheduler promises to groups of pods: enough of a group get a node at once, or none does."""

from typing import Any

import pytest
from life import World, node, pod

Object = dict[str, Any]
GROUPS = "podgroups.scheduling.k8s.io"
SCHEDULED = "PodGroupInitiallyScheduled"


def group(name: str = "gang", least: int = 0, *, priority: str = "high", mode: str = "single") -> Object:
    """A PodGroup, of which at least so many pods start together."""
    policy: Object = {"gang": {"minCount": least}} if least else {"basic": {}}
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": policy, "disruptionMode": {mode: {}}, "priorityClassName": priority},
    }


def member(name: str, cpu: str = "1", *, of: str = "gang", priority: str = "high", **fields: Any) -> Object:
    return pod(name, cpu, priority=priority, schedulingGroup={"podGroupName": of}, **fields)


class Gangs(World):
    """A world with groups."""

    def form(self, obj: Object) -> None:
        """Create a group."""
        self.store.create(GROUPS, obj)
        self.clock.advance(0)

    def arrive(self, *pods: Object) -> None:
        """Create pods at the same moment."""
        for obj in pods:
            self.store.create("pods", obj)
        self.clock.advance(0)

    def nodes_of(self, *names: str) -> list[str | None]:
        return [self.node_of(name) for name in names]

    def said(self, name: str = "gang") -> tuple[str, str, str]:
        """The status, reason and message of a group's condition."""
        conditions = self.store.get(GROUPS, "default", name)["status"]["conditions"]
        return next((one["status"], one["reason"], one["message"]) for one in conditions if one["type"] == SCHEDULED)

    def is_untold(self, name: str) -> bool:
        """Whether nothing was said of a pod yet."""
        return not self.pod(name)["status"].get("conditions")


def test_a_pod_waits_for_its_group_to_exist() -> None:
    """Untold, as it is not tried; when the group comes it is bound."""
    world = Gangs(node())
    world.arrive(member("a"))
    assert (world.node_of("a"), world.is_untold("a")) == (None, True)
    world.form(group())
    assert world.node_of("a") == "n1"
    assert world.said() == ("True", "Scheduled", "")


def test_a_gang_waits_until_enough_of_its_pods_exist() -> None:
    """Those that are bound count, and the last one brings the others along."""
    world = Gangs(node())
    world.form(group(least=3))
    world.arrive(member("bound", nodeName="n1"))
    world.arrive(member("a"))
    world.clock.advance(400)
    assert (world.node_of("a"), world.is_untold("a")) == (None, True)
    world.arrive(member("b"))
    assert world.nodes_of("a", "b") == ["n1", "n1"]


def test_a_bound_pod_that_comes_completes_its_gang() -> None:
    world = Gangs(node())
    world.form(group(least=2))
    world.arrive(member("a"))
    world.arrive(member("bound", nodeName="n1"))
    assert world.node_of("a") == "n1"


def test_a_lower_minimum_lets_a_gang_start() -> None:
    world = Gangs(node())
    world.form(group(least=2))
    world.arrive(member("a"))
    world.store.mutate(
        GROUPS, "default", "gang", lambda one: one["spec"]["schedulingPolicy"]["gang"].update(minCount=1)
    )
    world.clock.advance(0)
    assert world.node_of("a") == "n1"


def test_no_pod_of_a_gang_is_bound_while_too_few_fit() -> None:
    """Though two of four would; each says why in the words of kube-scheduler, and all start as soon as they fit."""
    world = Gangs(node(cpu="2"))
    world.form(group(least=4))
    names = [f"gang-{number}" for number in range(4)]
    world.arrive(*map(member, names))
    told = "minCount (4) cannot be satisfied: 2 scheduled, 1 remaining"
    why = ", pod group preemption: No preemption victims found for incoming preemptor"
    assert world.nodes_of(*names) == [None] * 4
    assert world.said() == ("False", "Unschedulable", told + why)
    assert [world.condition(name)["message"] for name in names] == [
        *[f"pod group is unschedulable, {told}{why}"] * 2,
        *("0/1 nodes are available: 1 Insufficient cpu.", told),
    ]
    assert {world.condition(name)["reason"] for name in names} == {"Unschedulable"}
    world.clock.advance(5)
    world.create(node("n2", cpu="2"))
    world.until(lambda: all(world.nodes_of(*names)), limit=11)
    assert sorted(map(str, world.nodes_of(*names))) == ["n1", "n1", "n2", "n2"]
    assert world.said() == ("True", "Scheduled", "")


def test_what_was_tried_for_a_gang_holds_no_room() -> None:
    """A pod of its own takes what the gang could not use."""
    world = Gangs(node(cpu="2"))
    world.form(group(least=3))
    world.arrive(*map(member, "abc"))
    world.arrive(pod("alone", cpu="2", priority="low"))
    assert world.node_of("alone") == "n1"


def test_enough_start_and_the_others_come_later() -> None:
    """The condition of the group stays true while more wait."""
    world = Gangs(node(cpu="2"))
    world.form(group(least=2))
    world.arrive(*map(member, "abc"))
    assert world.nodes_of("a", "b", "c") == ["n1", "n1", None]
    assert world.condition("c")["message"] == "0/1 nodes are available: 1 Insufficient cpu."
    world.clock.advance(20)
    assert world.said() == ("True", "Scheduled", "")
    world.create(node("n2"))
    world.until(lambda: world.node_of("c") == "n2", limit=11)


def test_a_gang_goes_where_it_is_nominated_first() -> None:
    """Though another node has more room."""
    world = Gangs(node("n1", cpu="4"), node("n2", cpu="8"))
    world.form(group(least=3))
    world.arrive(*map(member, "ab"))
    for name in "ab":
        world.store.mutate("pods", "default", name, lambda one: one["status"].update(nominatedNodeName="n1"), "status")
    world.arrive(member("c"))
    assert world.nodes_of("a", "b", "c") == ["n1", "n1", "n2"]


def test_a_gang_is_in_the_queue_as_one() -> None:
    """All of it is tried before a pod of the same priority that came between its pods, and after a higher one."""
    world = Gangs(node(cpu="3"))
    world.form(group(least=2, priority="low"))
    world.arrive(
        member("a", priority="low"),
        pod("alone", priority="low"),
        member("b", priority="low"),
        pod("up", priority="high"),
    )
    assert world.nodes_of("up", "a", "b", "alone") == ["n1", "n1", "n1", None]


def test_a_pod_of_another_priority_holds_its_group_up() -> None:
    world = Gangs(node())
    world.form(group(least=2))
    world.arrive(member("a"), member("odd", priority="low"))
    rule = "all pods in a single pod group should have the same priority as the pod group's priority, got 10 and 1000"
    assert world.said() == ("False", "SchedulerError", rule)
    assert {(world.condition(name)["reason"], world.condition(name)["message"]) for name in ("a", "odd")} == {
        ("SchedulerError", rule)
    }


def test_a_gang_preempts_as_a_whole() -> None:
    """Victims on both nodes, each with the Event that names the group; then the gang runs."""
    slow = {"simulator.scheduler-admin.io/exits-after": "5s"}
    victims = [pod(f"v{n}", cpu="2", priority="low", nodeName=f"n{n}", annotations=slow) for n in (1, 2)]
    world = Gangs(node("n1", cpu="2"), node("n2", cpu="2"))
    world.arrive(*victims)
    world.form(group(least=2))
    world.arrive(member("a", cpu="2"), member("b", cpu="2"))
    text = "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining, pod group preemption: "
    assert world.said()[2] == f"{text}found a placement for podgroup, preempting 2 victims"
    uid = world.store.get(GROUPS, "default", "gang")["metadata"]["uid"]
    preempted = [one for one in world.store.list("events") if one["reason"] == "Preempted"]
    assert {one["message"] for one in preempted} == {f"Preempted by podgroup {uid} on node cluster"}
    assert {(one["involvedObject"]["name"], one["related"]["kind"]) for one in preempted} == {
        ("v1", "PodGroup"),
        ("v2", "PodGroup"),
    }
    assert {world.pod(name)["status"]["nominatedNodeName"] for name in "ab"} == {"n1", "n2"}
    world.until(lambda: all(world.nodes_of("a", "b")), limit=20)
    assert world.reasons("v1")["Preempted"] == 1


def test_a_gang_spares_all_where_it_can_not_be_helped() -> None:
    world = Gangs(node(cpu="2"))
    world.arrive(pod("v", cpu="2", priority="low", nodeName="n1"))
    world.form(group(least=2))
    world.arrive(member("a", cpu="2"), member("b", cpu="2"))
    too_few = "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining"
    helped = "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"
    assert world.said()[2] == (
        f"{too_few}, deallocation and deletion of ResourceClaims completed, pod group preemption: {helped}"
    )
    assert "deletionTimestamp" not in world.pod("v")["metadata"]


def test_a_gang_preempts_nothing_where_that_is_turned_off() -> None:
    world = Gangs(node(cpu="2"), default_preemption=False)
    world.arrive(pod("v", cpu="2", priority="low", nodeName="n1"))
    world.form(group(least=1))
    world.arrive(member("a"))
    assert world.said()[2] == "minCount (1) cannot be satisfied: 0 scheduled, 0 remaining"
    assert "deletionTimestamp" not in world.pod("v")["metadata"]


@pytest.mark.parametrize(("mode", "gone"), [("single", 1), ("all", 2)])
def test_a_group_goes_as_a_whole_for_a_pod_where_its_mode_says_so(mode: str, gone: int) -> None:
    world = Gangs(node("n1", cpu="2"), node("n2", cpu="2"))
    world.form(group(priority="low", mode=mode))
    world.arrive(*(member(f"v{n}", cpu="2", priority="low", nodeName=f"n{n}") for n in (1, 2)))
    world.arrive(pod("ask", cpu="2", priority="high"))
    terminating = [one for one in world.pods() if "deletionTimestamp" in one["metadata"]]
    assert len(terminating) == gone
