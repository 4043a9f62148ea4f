"""What queues ask, use and deserve of a cluster, as policy ``deserved`` counts it."""

import msgspec

from engine.policies.deserved import share_statuses
from tests.builders import ask, node, pod, queue, reservation, snapshot, tree

SHARED = tree({"area.a": queue("1"), "area.b": queue(max="3"), "c": queue()})


def test_queues_stand_at_what_their_pods_ask_and_hold() -> None:
    """An area at what all below it do."""
    there = snapshot(
        SHARED,
        node("n1", 4),
        pod("a1", queue="area.a", node="n1"),
        pod("b1", queue="area.b", node="n1"),
        ask("a2", queue="area.a"),
    )
    found = share_statuses(there, SHARED)
    assert (found["root.area.a"].requested["cpu"], found["root.area.a"].used["cpu"]) == (2000, 1000)
    assert (found["root.area"].requested["cpu"], found["root.area"].used["cpu"]) == (3000, 2000)
    assert (found["root.area.a"].reserved, found["root.area.b"].hard) == ({"cpu": 1000}, {"cpu": 3000})
    assert (found["root.area.a"].deserved["cpu"], found["root.c"].deserved["cpu"]) == (2000, 0)


def test_what_a_pod_on_its_way_out_holds_is_used_no_more() -> None:
    """Nor what the cluster itself holds, whatever its namespace's leaf."""
    leaving = msgspec.structs.replace(pod("a1", queue="area.a", node="n1"), terminating=True)
    there = snapshot(SHARED, node("n1", 4), leaving, pod("dns", queue="area.a", node="n1", namespace="kube-system"))
    assert share_statuses(there, SHARED)["root.area.a"].used == {}


def test_room_that_is_kept_for_an_ask_is_used_by_its_queue() -> None:
    """Until the ask is there itself."""
    waits = ask("c1", queue="c", cpu=2)
    room = reservation(waits, node="n1")
    assert share_statuses(snapshot(SHARED, node("n1", 4), waits, room), SHARED)["root.c"].used["cpu"] == 2000
    came = msgspec.structs.replace(waits, node="n1")
    assert share_statuses(snapshot(SHARED, node("n1", 4), came, room), SHARED)["root.c"].used["cpu"] == 2000


def test_over_is_what_a_queue_uses_beyond_what_it_deserves() -> None:
    """In each resource alone."""
    there = snapshot(
        SHARED, node("n1", 4), [pod(f"b{i}", queue="area.b", node="n1") for i in range(3)], ask("c1", queue="c", cpu=4)
    )
    found = share_statuses(there, SHARED)
    assert found["root.c"].over == {}
    assert found["root.area.b"].over["cpu"] == 3000 - found["root.area.b"].deserved["cpu"] > 0
