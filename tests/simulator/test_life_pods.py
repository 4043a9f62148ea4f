"""What kubelets and controllers promise: starting, ending, recreating, completing, and counting disruptions."""

import pytest
from life import World, budget, job, node, pod, replica_set

from simulator.controllers.kubelet import parse_duration
from simulator.status import ApiError


def of(world: World, app: str) -> list[dict]:
    """Return the pods of an application that are not on their way out."""
    return [
        item
        for item in world.pods()
        if item["metadata"]["labels"].get("app") == app and "deletionTimestamp" not in item["metadata"]
    ]


def running(world: World, app: str) -> int:
    """Return how many of an application's pods run."""
    return sum(1 for item in of(world, app) if item["status"]["phase"] == "Running")


def test_a_bound_pod_runs_within_a_second():
    """Its containers are ready, it has a start time and an address."""
    world = World(node())
    world.create(pod("p"))
    assert world.pod("p")["status"]["phase"] == "Pending"
    world.until(lambda: world.pod("p")["status"]["phase"] == "Running", limit=1)
    status = world.pod("p")["status"]
    assert status["containerStatuses"][0]["ready"] is True
    assert status["startTime"]
    assert status["podIP"].startswith("10.244.")
    assert {item["type"] for item in status["conditions"] if item["status"] == "True"} >= {"Ready", "PodScheduled"}


@pytest.mark.parametrize(("grace", "exits", "takes"), [(30, "6s", 6.0), (3, "6s", 3.0), (30, "250ms", None)])
def test_every_pod_ends_after_its_own_time(grace, exits, takes):
    """A pod ends when its processes do, at the latest with its grace period; an unreadable annotation says nothing."""
    world = World(node())
    annotations = {"simulator.scheduler-admin.io/exits-after": exits}
    world.create(pod("p", annotations=annotations, terminationGracePeriodSeconds=grace))
    world.clock.advance(1)
    world.store.evict("default", "p")
    assert world.pod("p")["metadata"]["deletionGracePeriodSeconds"] == grace
    took = world.until(lambda: not world.exists("p"))
    assert takes is None or took == pytest.approx(takes)
    assert took <= grace


def test_the_speed_changes_how_long_pods_run_but_no_grace_period():
    """At four times the speed a pod that runs for 40 seconds is done in ten, and one that ends in six takes six."""
    world = World(node(), speed=4.0)
    runs = {"simulator.scheduler-admin.io/runs-for": "40s"}
    world.create(
        pod("worker", annotations=runs), pod("slow", annotations={"simulator.scheduler-admin.io/exits-after": "6s"})
    )
    world.clock.advance(1)
    world.store.delete("pods", "default", "slow")
    assert world.until(lambda: not world.exists("slow")) == pytest.approx(6.0)
    world.until(lambda: world.pod("worker")["status"]["phase"] == "Succeeded", limit=5)


def test_a_change_of_speed_reaches_what_is_under_way():
    """A pod that has half of its 40 seconds behind it needs two more seconds at ten times the speed."""
    world = World(node())
    world.create(pod("worker", annotations={"simulator.scheduler-admin.io/runs-for": "40s"}))
    world.until(lambda: world.pod("worker")["status"]["phase"] == "Running")
    world.clock.advance(20)
    world.cluster.pace.set_speed(10)
    assert world.until(lambda: world.pod("worker")["status"]["phase"] == "Succeeded") == pytest.approx(2.0)


def test_durations_are_read_as_people_write_them():
    """Hours, minutes and seconds, also fractions; anything else is an error that says so."""
    assert [parse_duration(text) for text in ("40s", "1m30s", "2h", "1.5s")] == [40, 90, 7200, 1.5]
    with pytest.raises(ValueError, match="soon is not a duration"):
        parse_duration("soon")


def test_a_replica_set_recreates_what_was_evicted():
    """As soon as a pod is on its way out another one exists, and the status counts what is there."""
    world = World(node(), replica_set("web", 3))
    world.until(lambda: running(world, "web") == 3)
    first = of(world, "web")[0]["metadata"]["name"]
    world.store.evict("default", first)
    world.clock.advance(0)
    assert len(of(world, "web")) == 3
    assert first not in {item["metadata"]["name"] for item in of(world, "web")}
    world.until(lambda: running(world, "web") == 3)
    world.clock.advance(0)
    status = world.store.get("replicasets.apps", "default", "web")["status"]
    assert (status["replicas"], status["readyReplicas"], status["observedGeneration"]) == (3, 3, 1)


def test_a_replica_set_that_shrinks_gives_up_what_waits_and_then_what_is_newest():
    """Pending pods go before running ones, and of those that run the newest."""
    world = World(node(cpu="2"), replica_set("web", 1))
    world.clock.advance(5)
    for replicas in (2, 3):
        _scale(world, "web", replicas)
        world.clock.advance(5)
    old, new = sorted(
        (item for item in of(world, "web") if item["spec"].get("nodeName")),
        key=lambda item: item["metadata"]["creationTimestamp"],
    )
    _scale(world, "web", 2)
    world.clock.advance(2)
    assert {item["metadata"]["uid"] for item in of(world, "web")} == {old["metadata"]["uid"], new["metadata"]["uid"]}
    _scale(world, "web", 1)
    world.clock.advance(2)
    assert [item["metadata"]["uid"] for item in of(world, "web")] == [old["metadata"]["uid"]]


def _scale(world: World, name: str, replicas: int) -> None:
    world.store.mutate("replicasets.apps", "default", name, lambda copy: copy["spec"].update(replicas=replicas))


def test_a_job_runs_as_many_at_once_as_it_says_until_enough_have_succeeded():
    """Five completions, two at once, ten seconds each: three waves; then it is complete, and gone after its time."""
    world = World(node(), job("work", completions=5, parallelism=2, ttlSecondsAfterFinished=20))
    most = 0
    while not _conditions(world, "work"):
        world.clock.advance(1)
        most = max(most, running(world, "work"))
    assert most == 2
    assert 30 < world.clock.monotonic() < 36
    status = world.store.get("jobs.batch", "default", "work")["status"]
    assert (status["succeeded"], status.get("failed", 0), "Complete" in _conditions(world, "work")) == (5, 0, True)
    world.until(lambda: world.store.find("jobs.batch", "default", "work") is None, limit=25)
    assert world.pods() == []


def _conditions(world: World, name: str) -> list[str]:
    found = world.store.get("jobs.batch", "default", name)["status"].get("conditions", [])
    return [item["type"] for item in found if item["status"] == "True"]


def test_an_evicted_pod_of_a_job_is_replaced_and_counts_for_nothing():
    """The job still needs all of its completions, and eviction is no failure."""
    world = World(node(), job("work", completions=2, parallelism=1, backoffLimit=0))
    world.until(lambda: running(world, "work") == 1)
    world.store.evict("default", of(world, "work")[0]["metadata"]["name"])
    world.until(lambda: "Complete" in _conditions(world, "work"))
    status = world.store.get("jobs.batch", "default", "work")["status"]
    assert (status["succeeded"], status.get("failed", 0)) == (2, 0)


def test_a_job_whose_pods_fail_too_often_fails():
    """More failed pods than the limit end the job as failed."""
    world = World(node(), job("work", completions=2, parallelism=1, backoffLimit=1))
    for _ in range(2):
        world.until(lambda: running(world, "work") == 1)
        name = next(item["metadata"]["name"] for item in of(world, "work") if item["status"]["phase"] == "Running")
        world.store.mutate("pods", "default", name, lambda copy: copy["status"].update(phase="Failed"), "status")
        world.clock.advance(0)
    assert _conditions(world, "work") == ["Failed"]


@pytest.mark.parametrize(
    ("rule", "desired", "allowed"),
    [
        ({"minAvailable": 3}, 3, 1),
        ({"minAvailable": "60%"}, 3, 1),
        ({"maxUnavailable": 1}, 3, 1),
        ({"maxUnavailable": "30%"}, 2, 2),
        ({"minAvailable": 5}, 5, 0),
    ],
)
def test_a_budget_counts_what_may_go(rule, desired, allowed):
    """Numbers count, percentages are rounded up, and without slack nothing is allowed."""
    world = World(node(), replica_set("web", 4), budget("web", "web", **rule))
    world.until(lambda: running(world, "web") == 4)
    world.clock.advance(0)
    found = world.store.get("poddisruptionbudgets.policy", "default", "web")
    status = found["status"]
    assert (status["currentHealthy"], status["desiredHealthy"], status["expectedPods"]) == (4, desired, 4)
    assert (status["disruptionsAllowed"], status["observedGeneration"]) == (allowed, 1)


def test_an_eviction_that_would_break_a_budget_is_refused_until_the_replacement_is_ready():
    """The second eviction gets 429; once the recreated pod is ready the budget allows one again."""
    world = World(node(), replica_set("web", 3), budget("web", "web", minAvailable=2))
    world.until(lambda: running(world, "web") == 3)
    world.clock.advance(0)
    first, second, _ = (item["metadata"]["name"] for item in of(world, "web"))
    world.store.evict("default", first)
    with pytest.raises(ApiError) as refused:
        world.store.evict("default", second)
    assert refused.value.code == 429
    world.clock.advance(0)
    budget_now = world.store.get("poddisruptionbudgets.policy", "default", "web")["status"]
    assert (budget_now["disruptionsAllowed"], budget_now.get("disruptedPods")) == (0, None)
    world.until(lambda: running(world, "web") == 3)
    world.clock.advance(0)
    world.store.evict("default", second)


def test_events_are_counted_and_bounded():
    """However much happens, only so many Events are kept, the latest."""
    world = World(node(cpu="1"), replica_set("web", 40))
    for replicas in range(200, 300):
        _scale(world, "web", replicas % 50)
        world.clock.advance(2)
    assert len(world.store.list("events")) <= 500
