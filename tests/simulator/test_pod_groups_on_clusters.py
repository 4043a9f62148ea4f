"""Groups of pods on either kind of cluster: what the API server fills in and refuses, and what the scheduler says."""

from typing import Any

import pytest

from tests.controlplane.anycluster import AnyCluster, Object, path_of
from tests.controlplane.pod_groups import GROUPS, add_group, add_pod
from tests.waiting import wait_for

GANG = {"schedulingPolicy": {"gang": {"minCount": 2}}}
OTHER_PRIORITY = (
    "priority set in the pod group (7) must match the priority computed (1000) based on the priority class set in the "
    "spec"
)
FITS_NOWHERE = "0/2 nodes are available: 2 Insufficient cpu."
NO_VICTIMS = ", pod group preemption: No preemption victims found for incoming preemptor"


@pytest.fixture
def cluster(groups_cluster: AnyCluster) -> AnyCluster:
    return groups_cluster


def post(cluster: AnyCluster, spec: Object) -> tuple[int, Any]:
    obj = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": spec}
    return cluster.raw("POST", path_of(GROUPS, cluster.namespace), obj)


@pytest.mark.parametrize(("named", "priority"), [({}, 0), ({"priorityClassName": "high"}, 1_000)])
def test_a_group_gets_the_priority_of_its_class(cluster: AnyCluster, named: Object, priority: int) -> None:
    """And each of its pods is evicted alone, where it does not say otherwise."""
    code, made = post(cluster, {**GANG, **named})
    assert code == 201
    assert made["spec"] == {**GANG, **named, "priority": priority, "disruptionMode": {"single": {}}}


@pytest.mark.parametrize(
    ("spec", "code", "why"),
    [
        (
            {**GANG, "priorityClassName": "high", "priority": 7},
            403,
            OTHER_PRIORITY,
        ),
        ({**GANG, "priorityClassName": "nope"}, 403, "no PriorityClass with name nope was found"),
        ({}, 422, 'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'),
        (
            {"schedulingPolicy": {"gang": {"minCount": 1}, "basic": {}}},
            422,
            'spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`',
        ),
        (
            {**GANG, "disruptionMode": {"all": {}, "single": {}}},
            422,
            'spec.disruptionMode: Invalid value: "{single, all}": must specify exactly one of: `single`, `all`',
        ),
        ({"schedulingPolicy": {"gang": {}}}, 422, "spec.schedulingPolicy.gang.minCount: Required value"),
        (
            {"schedulingPolicy": {"gang": {"minCount": -1}}},
            422,
            "spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1",
        ),
    ],
)
def test_a_group_that_breaks_a_rule_is_refused(cluster: AnyCluster, spec: Object, code: int, why: str) -> None:
    found, answer = post(cluster, spec)
    assert (found, answer["message"].endswith(why)) == (code, True), answer["message"]


def told(cluster: AnyCluster, name: str) -> str:
    """Why a pod is not scheduled; waits until that is said."""

    def message() -> str:
        conditions = cluster.get("pods", name)["status"].get("conditions", [])
        return next((one["message"] for one in conditions if one["type"] == "PodScheduled"), "")

    return wait_for(message, f"{name} was tried")


def placed(cluster: AnyCluster, name: str) -> tuple[str, str]:
    """The reason and the message of a group's condition; waits until there is one."""

    def condition() -> tuple[str, str] | None:
        conditions = cluster.get(GROUPS, name).get("status", {}).get("conditions", [])
        return next(((one["reason"], one["message"]) for one in conditions), None)

    return wait_for(condition, f"{name} was tried")


def test_pods_of_a_gang_say_why_it_does_not_start(cluster: AnyCluster) -> None:
    """What fits nowhere says so; what was not tried any more says that too few are left."""
    for number in range(4):
        add_pod(cluster, f"big-{number}", "high", group="big", cpu="9")
    add_group(cluster, "big", "high", gang=3)
    too_few = "minCount (3) cannot be satisfied: 0 scheduled, 2 remaining"
    assert placed(cluster, "big") == ("Unschedulable", too_few + NO_VICTIMS)
    found = sorted(told(cluster, f"big-{number}") for number in range(4))
    assert found == [FITS_NOWHERE, FITS_NOWHERE, too_few, too_few]


def test_a_pod_that_fits_tells_why_its_gang_does_not_start(cluster: AnyCluster) -> None:
    for number, cores in enumerate((3, 9, 3)):
        add_pod(cluster, f"gang-{number}", "high", group="gang", cpu=str(cores))
    add_group(cluster, "gang", "high", gang=3)
    too_few = "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"
    assert placed(cluster, "gang") == ("Unschedulable", too_few + NO_VICTIMS)
    said = [told(cluster, f"gang-{number}") for number in range(3)]
    assert said == [f"pod group is unschedulable, {too_few}{NO_VICTIMS}", FITS_NOWHERE, too_few]


def test_a_pod_that_fits_tells_what_its_gang_preempts(cluster: AnyCluster) -> None:
    add_pod(cluster, "victim", "low", node="n1", cpu="3")
    for number in range(2):
        add_pod(cluster, f"gang-{number}", "high", group="gang", cpu="3")
    add_group(cluster, "gang", "high", gang=2)
    preempts = "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, pod group preemption: "
    assert placed(cluster, "gang")[1].startswith(preempts)
    assert [told(cluster, "gang-0")[: len(preempts)], told(cluster, "gang-1")] == [preempts, FITS_NOWHERE]
    wait_for(lambda: all(cluster.get("pods", f"gang-{n}")["spec"].get("nodeName") for n in range(2)), "it starts")


def test_a_pod_of_another_priority_holds_its_group_up(cluster: AnyCluster) -> None:
    for name, priority in (("odd", "middle"), ("even", "high")):
        add_pod(cluster, name, priority, group="gang")
    add_group(cluster, "gang", "high", gang=2)
    rule = "all pods in a single pod group should have the same priority as the pod group's priority, got 100 and 1000"
    assert placed(cluster, "gang") == ("SchedulerError", rule)
    assert {told(cluster, name) for name in ("odd", "even")} == {rule}


def test_of_a_gang_that_starts_in_part_the_others_say_why_they_wait(cluster: AnyCluster) -> None:
    names = [f"part-{number}" for number in range(3)]
    for name in names:
        add_pod(cluster, name, "high", group="part", cpu="3")
    add_group(cluster, "part", "high", gang=2)
    assert placed(cluster, "part") == ("Scheduled", "")

    def nodes() -> list[str]:
        found = [cluster.get("pods", name)["spec"].get("nodeName", "") for name in names]
        return found if sum(map(bool, found)) == 2 else []

    found = wait_for(nodes, "two of them run")
    assert {*found} == {"n1", "n2", ""}
    assert told(cluster, names[found.index("")]) == FITS_NOWHERE


def test_a_pod_with_a_scheduling_gate_holds_its_whole_gang_up(cluster: AnyCluster) -> None:
    """Also the pods that are enough without it; once the gate is gone all of them start."""
    add_group(cluster, "gang", "high", gang=2)
    add_pod(cluster, "gang-2", "high", group="gang", gated=True)
    for number in range(2):
        add_pod(cluster, f"gang-{number}", "high", group="gang")
    add_pod(cluster, "alone", "low")
    wait_for(lambda: cluster.get("pods", "alone")["spec"].get("nodeName"), "what came later is scheduled")
    assert [cluster.get("pods", f"gang-{number}")["spec"].get("nodeName") for number in range(3)] == [None] * 3
    assert not cluster.get(GROUPS, "gang").get("status", {}).get("conditions")
    cluster.change("pods", "gang-2", lambda pod: pod["spec"].pop("schedulingGates"))
    wait_for(lambda: all(cluster.get("pods", f"gang-{n}")["spec"].get("nodeName") for n in range(3)), "all start")


def test_a_pod_with_a_scheduling_gate_counts_as_one_of_its_gang(cluster: AnyCluster) -> None:
    """Nothing is missing but its gate."""
    add_group(cluster, "gang", "high", gang=2)
    add_pod(cluster, "gang-0", "high", group="gang")
    add_pod(cluster, "gang-1", "high", group="gang", gated=True)
    add_pod(cluster, "alone", "low")
    wait_for(lambda: cluster.get("pods", "alone")["spec"].get("nodeName"), "what came later is scheduled")
    assert not cluster.get("pods", "gang-0")["spec"].get("nodeName")
    cluster.change("pods", "gang-1", lambda pod: pod["spec"].pop("schedulingGates"))
    wait_for(lambda: all(cluster.get("pods", f"gang-{n}")["spec"].get("nodeName") for n in range(2)), "all start")
