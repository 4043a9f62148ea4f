"""What the simulated kube-scheduler evicts by itself, and what it does with nominations of others."""

import pytest
from life import World, budget, node, pod, replica_set

SLOW = {"simulator.scheduler-admin.io/exits-after": "5s"}


def nominate(world: World, name: str, where: str) -> None:
    """Set a nomination from outside."""
    world.store.mutate("pods", "default", name, lambda copy: copy["status"].update(nominatedNodeName=where), "status")


def touch(world: World, name: str) -> None:
    """Change a pod's labels, which lets the scheduler try it again."""
    world.store.mutate("pods", "default", name, lambda copy: copy["metadata"]["labels"].update(touched="yes"))


def test_a_higher_priority_evicts_a_lower_one_with_its_grace():
    """The victim gets the condition and its grace period, the ask the nomination, and the room once it is free."""
    world = World(node(cpu="1"))
    world.create(pod("victim", priority="low", annotations=SLOW))
    world.clock.advance(1)
    world.create(pod("ask", priority="high"))
    victim = world.pod("victim")
    assert world.pod("ask")["status"]["nominatedNodeName"] == "n1"
    assert world.condition("victim", "DisruptionTarget")["reason"] == "PreemptionByScheduler"
    assert victim["metadata"]["deletionGracePeriodSeconds"] == 30
    assert world.reasons("victim")["Preempted"] == 1
    took = world.until(lambda: world.node_of("ask") == "n1")
    assert took == pytest.approx(5.0)
    assert "nominatedNodeName" not in world.pod("ask")["status"]


def test_never_and_the_switch_keep_the_scheduler_from_preempting():
    """preemptionPolicy Never of the asking pod is honoured, and with default preemption off nobody is evicted."""
    for ask, options in (("never", {}), ("high", {"default_preemption": False})):
        world = World(node(cpu="1"), **options)
        world.create(pod("victim", priority="low"), pod("ask", priority=ask))
        world.clock.advance(10)
        assert world.node_of("victim") == "n1"
        assert "deletionTimestamp" not in world.pod("victim")["metadata"]
    world = World(node(cpu="1"))
    world.create(pod("victim", priority="low"), pod("ask", priority="never"))
    assert world.condition("ask")["message"].endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_equal_priorities_are_never_victims():
    """Default preemption takes strictly lower priorities only."""
    world = World(node(cpu="1"))
    world.create(pod("first", priority="high"), pod("second", priority="high"))
    world.clock.advance(10)
    assert world.node_of("first") == "n1"
    assert world.node_of("second") is None


def test_the_node_without_a_broken_budget_is_taken():
    """Of two nodes the one is preempted on whose victim no budget protects."""
    world = World(node("n1", cpu="1"), node("n2", cpu="1"), budget("keep", "kept", minAvailable=1))
    world.create(pod("kept", priority="low", labels={"app": "kept"}))
    world.create(pod("free", priority="low"))
    world.clock.advance(1)
    world.create(pod("ask", priority="high"))
    assert world.pod("ask")["status"]["nominatedNodeName"] == world.node_of("free")


def test_victims_that_are_not_needed_stay():
    """Only as many go as the ask needs: the more important ones are reprieved."""
    world = World(node(cpu="3"))
    world.create(pod("small", priority="low"), pod("large", cpu="2"))
    world.clock.advance(1)
    world.create(pod("ask", priority="high", cpu="2"))
    assert "deletionTimestamp" in world.pod("large")["metadata"]
    assert "deletionTimestamp" not in world.pod("small")["metadata"]


def test_a_nomination_set_from_outside_is_cleared_by_the_next_failed_attempt():
    """When a retry finds no candidates, the scheduler takes the nomination away, whoever has set it."""
    world = World(node(cpu="1"))
    world.create(pod("one"), pod("ask"))
    nominate(world, "ask", "n1")
    assert world.pod("ask")["status"]["nominatedNodeName"] == "n1"
    touch(world, "ask")
    world.until(lambda: world.reasons("ask")["FailedScheduling"] == 2)
    assert "nominatedNodeName" not in world.pod("ask")["status"]


def test_a_scheduler_that_never_preempts_clears_every_nomination_it_fails_on():
    """Without DefaultPreemption in its profile nothing keeps one, not that of a Never pod either."""
    world = World(node(cpu="1"), default_preemption=False)
    world.create(pod("one"), pod("ask", priority="never"))
    nominate(world, "ask", "n1")
    touch(world, "ask")
    world.until(lambda: world.reasons("ask")["FailedScheduling"] == 2)
    assert "nominatedNodeName" not in world.pod("ask")["status"]


def test_a_nomination_of_a_pod_that_may_not_preempt_stays():
    """Not eligible is not the same as no candidates: the nomination of a Never pod outlives failed attempts."""
    world = World(node(cpu="1"))
    world.create(pod("one"), pod("ask", priority="never"))
    nominate(world, "ask", "n1")
    touch(world, "ask")
    world.until(lambda: world.reasons("ask")["FailedScheduling"] == 2)
    assert world.pod("ask")["status"]["nominatedNodeName"] == "n1"


@pytest.mark.parametrize(("newcomer", "takes"), [("low", False), ("high", False), ("top", True)])
def test_nominated_room_is_kept_from_equal_and_lower_priorities(newcomer, takes):
    """Whoever is tried before an ask that backs off, only a higher priority may take the room it is nominated to."""
    top = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "top"}, "value": 2000}
    world = World(node(cpu="2"), top)
    world.create(pod("victim", priority="low", cpu="2", annotations=SLOW))
    world.clock.advance(1)
    world.create(pod("ask", priority="high", cpu="2"), pod("newcomer", priority=newcomer, cpu="1"))
    world.clock.advance(4.5)
    touch(world, "ask")
    world.until(lambda: not world.exists("victim"))
    world.clock.advance(10)
    assert (world.node_of("newcomer") == "n1") is takes
    assert (world.node_of("ask") == "n1") is not takes


def test_recreated_victims_wait_behind_the_ask():
    """A ReplicaSet recreates what was preempted; the ask keeps the room, the new pod waits."""
    world = World(node(cpu="1"), replica_set("crowd", 1, priorityClassName="low"))
    world.clock.advance(1)
    world.create(pod("ask", priority="high"))
    world.until(lambda: world.node_of("ask") == "n1", limit=5)
    waiting = [item for item in world.pods() if item["metadata"]["labels"].get("app") == "crowd"]
    assert [item["spec"].get("nodeName") for item in waiting] == [None]


def test_the_event_names_victim_asker_and_node():
    """As kube-scheduler writes it: through events.k8s.io, the asker as the related object."""
    world = World(node(cpu="1"))
    world.create(pod("victim", priority="low", annotations=SLOW))
    world.clock.advance(1)
    world.create(pod("ask", priority="high"))
    (event,) = [one for one in world.store.list("events") if one["reason"] == "Preempted"]
    asker = world.pod("ask")["metadata"]["uid"]
    assert (event["involvedObject"]["name"], event["related"]["uid"], event["action"]) == (
        "victim",
        asker,
        "Preempting",
    )
    assert event["message"] == f"Preempted by pod {asker} on node n1"
    assert (event["eventTime"][-1], event["firstTimestamp"], event["reportingComponent"]) == (
        "Z",
        None,
        "default-scheduler",
    )
