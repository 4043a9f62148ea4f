"""What the simulated kube-scheduler promises: order, back-off, rules of nodes, and what it says."""

import pytest
from life import World, node, pod

TOLERATION = {"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"}
TAINT = {"key": "team", "value": "a", "effect": "NoSchedule"}


def test_a_higher_priority_is_tried_first_and_then_the_older():
    """Of three pods that came together, the two that fit are the one of high priority and the older of the others."""
    world = World(node(cpu="2"))
    for obj in (pod("old"), pod("young"), pod("urgent", priority="high")):
        world.store.create("pods", obj)
    world.clock.advance(0)
    assert world.node_of("urgent") == world.node_of("old") == "n1"
    assert world.node_of("young") is None


def test_pods_are_spread_to_the_least_allocated_node_and_ties_go_by_name():
    """Four equal pods land on two equal nodes in turn, the first on the first by name."""
    world = World(node("n2"), node("n1"))
    for name in ("a", "b", "c", "d"):
        world.create(pod(name))
    assert [world.node_of(name) for name in ("a", "b", "c", "d")] == ["n1", "n2", "n1", "n2"]


def test_an_unschedulable_pod_says_why_as_kube_scheduler_does():
    """The condition counts the nodes by reason, sorted, and ends with what preemption would do."""
    world = World(node("n1", cpu="1"), node("n2", cpu="1"), node("n3", taints=[TAINT]), node("n4", unschedulable=True))
    world.create(pod("wide", cpu="2"))
    condition = world.condition("wide")
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
    assert condition["message"] == (
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, "
        "2 Insufficient cpu. no new claims to deallocate, preemption: 0/4 nodes are available: "
        "4 Preemption is not helpful for scheduling."
    )


def test_a_full_node_could_be_helped_by_preemption_but_has_no_victims():
    """Where only equal priorities run, the message says that no victims were found."""
    world = World(node(cpu="1"))
    world.create(pod("first"), pod("second"))
    assert world.condition("second")["message"] == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod."
    )


def test_the_condition_keeps_its_time_while_its_status_stays():
    """Further failed attempts change neither lastTransitionTime nor write anything when nothing else changed."""
    world = World(node(cpu="1"))
    world.create(pod("first"), pod("second", cpu="1"))
    before = world.pod("second")
    world.clock.advance(30)
    world.create(node("n2", cpu="500m"))
    world.mutate_node("n2", taints=[TAINT])
    world.clock.advance(30)
    assert world.condition("second")["lastTransitionTime"] == before["status"]["conditions"][0]["lastTransitionTime"]


def test_back_off_grows_from_one_second_up_to_ten():
    """With every attempt of a pod that is woken again and again: 1, 2, 4, 8, 10 and 10 seconds."""
    world = World(node(cpu="1"))
    world.create(pod("first"), pod("second"))
    left = []
    for number in range(6):
        waiting = world.cluster.scheduler.queue.find(world.pod("second")["metadata"]["uid"])
        left.append(round(waiting.backoff_ends - world.clock.monotonic()))
        world.store.mutate(
            "pods", "default", "second", lambda copy, n=number: copy["metadata"]["labels"].update(n=str(n))
        )
        world.clock.advance(0)
    assert left == [1, 2, 4, 8, 10, 10]


def test_back_off_lets_others_go_first():
    """One that has just failed stands behind a pod of lower priority that was not tried yet."""
    world = World(node(cpu="1"))
    world.create(pod("first", priority="high"), pod("tried", priority="high"))
    world.store.create("nodes", node("n2", cpu="1"))
    world.store.create("pods", pod("new", priority="low"))
    world.clock.advance(0)
    assert (world.node_of("new"), world.node_of("tried")) == ("n2", None)


def test_back_off_keeps_nobody_waiting_for_nothing():
    """Where no other pod is ready, one is tried again at once."""
    world = World(node(cpu="1"))
    world.create(pod("first"), pod("tried"))
    world.create(node("n2", cpu="1"))
    assert world.node_of("tried") == "n2"


def test_nothing_is_tried_while_nothing_helps():
    """An unschedulable pod is left alone for minutes when the cluster does not change."""
    world = World(node(cpu="1"))
    world.create(pod("first"), pod("second"))
    world.clock.advance(200)
    assert world.reasons("second") == {"FailedScheduling": 1}


def test_a_pod_that_goes_wakes_those_that_lack_room():
    """The room of a deleted pod is taken as soon as it is really gone."""
    world = World(node(cpu="1"))
    world.create(pod("first"), pod("second"))
    world.clock.advance(5)
    world.store.delete("pods", "default", "first")
    world.until(lambda: world.node_of("second") == "n1", limit=2)
    assert not world.exists("first")
    assert world.reasons("second") == {"FailedScheduling": 1, "Scheduled": 1}


def test_a_finished_pod_gives_its_room_away():
    """A pod that has succeeded stays as an object, and holds nothing."""
    world = World(node(cpu="1"))
    world.create(pod("first", annotations={"simulator.scheduler-admin.io/runs-for": "20s"}), pod("second"))
    took = world.until(lambda: world.node_of("second") == "n1")
    assert 20 < took < 22
    assert world.pod("first")["status"]["phase"] == "Succeeded"


def test_a_new_node_wakes_a_pod_that_it_can_take():
    """A pod without a node is bound when one is added that takes it."""
    world = World()
    world.create(pod("early"))
    assert world.condition("early")["message"] == "no nodes available to schedule pods"
    world.clock.advance(5)
    world.create(node())
    world.until(lambda: world.node_of("early") == "n1", limit=1)


def test_a_taint_keeps_out_and_its_removal_lets_in():
    """A NoSchedule taint added later keeps new pods out, lets running ones be, and its removal wakes who waits."""
    world = World(node())
    world.create(pod("before"))
    world.mutate_node("n1", taints=[TAINT])
    world.create(pod("after"), pod("tolerant", tolerations=[TOLERATION]))
    assert (world.node_of("before"), world.node_of("after"), world.node_of("tolerant")) == ("n1", None, "n1")
    world.clock.advance(2)
    world.mutate_node("n1", taints=[])
    world.until(lambda: world.node_of("after") == "n1", limit=1)


def test_a_toleration_added_later_wakes_its_pod():
    """The API allows tolerations to be added to a pending pod; it is tried again."""
    world = World(node(taints=[TAINT]))
    world.create(pod("late"))
    world.store.mutate("pods", "default", "late", lambda copy: copy["spec"]["tolerations"].append(TOLERATION))
    world.clock.advance(0)
    assert world.node_of("late") == "n1"


def test_a_reservation_in_the_name_of_a_pod_needs_its_toleration():
    """The engine's own taint means nothing to kube-scheduler without the toleration, even for the pod it names."""
    world = World(node())
    world.mutate_node("n1", unschedulable=True)
    world.create(pod("ask"))
    uid = world.pod("ask")["metadata"]["uid"]
    taint = {"key": "scheduler-admin.io/reserved-for", "value": uid, "effect": "NoSchedule"}
    world.mutate_node("n1", unschedulable=False, taints=[taint])
    world.clock.advance(20)
    assert world.node_of("ask") is None


@pytest.mark.parametrize(
    "rule",
    [
        {"nodeSelector": {"disk": "fast"}},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["fast"]}]}
                        ]
                    }
                }
            }
        },
    ],
)
def test_selectors_and_required_affinity_choose_the_node(rule):
    """A pod runs only on a node with the labels that it demands."""
    world = World(node("a-slow"), node("b-fast", labels={"disk": "fast"}))
    world.create(pod("picky", **rule))
    assert world.node_of("picky") == "b-fast"


def test_a_host_port_is_given_once_per_node():
    """The second pod with the same host port waits for another node."""
    world = World(node())
    objects = [pod("one"), pod("two")]
    for obj in objects:
        obj["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    world.create(*objects)
    assert world.node_of("one") == "n1"
    assert "1 node(s) didn't have free ports for the requested pod ports" in world.condition("two")["message"]


def test_init_containers_and_overhead_count():
    """A pod asks for the larger of its init container and its containers, and its overhead on top."""
    world = World(node(cpu="3"))
    big = pod("big", cpu="1", overhead={"cpu": "500m"})
    big["spec"]["initContainers"] = [{"name": "init", "image": "i:1", "resources": {"requests": {"cpu": "2"}}}]
    world.create(big, pod("rest", cpu="600m"), pod("last", cpu="500m"))
    assert (world.node_of("big"), world.node_of("rest"), world.node_of("last")) == ("n1", None, "n1")


def test_pods_of_another_scheduler_and_gated_pods_are_left_alone():
    """Only pods that name this scheduler and have no gates are bound; a gate that goes lets its pod in."""
    world = World(node())
    world.create(pod("foreign", schedulerName="other"), pod("gated", schedulingGates=[{"name": "wait"}]))
    world.clock.advance(5)
    assert world.node_of("foreign") is None
    assert world.condition("gated")["reason"] == "SchedulingGated"
    world.store.mutate("pods", "default", "gated", lambda copy: copy["spec"].pop("schedulingGates"))
    world.until(lambda: world.node_of("gated") == "n1", limit=1)
