"""What the demo's day promises: it is full at once, it keeps the engine busy by right, it never grows without end."""

from itertools import pairwise

import pytest
from day_engine import DayEngine, demo_cluster, demo_tree

from engine.model.decision import Outcome, Reason
from engine.model.quantities import parse_amounts, total
from simulator.clock import ManualClock
from simulator.cluster import SimulatedCluster

ROUNDS = 2
LENGTH = 150


@pytest.fixture(scope="module")
def day() -> tuple[DayEngine, list[dict[str, int]], list[list[tuple[str, Outcome, Reason]]]]:
    """Return an engine after several rounds, with the counts and outcomes of every second."""
    clock = ManualClock()
    cluster = demo_cluster(clock)
    cluster.begin()
    engine = DayEngine(cluster, clock)
    counts, outcomes = [], []
    for _ in range(ROUNDS * LENGTH):
        engine.run(1)
        counts.append({**cluster.state()["counts"], "script jobs": len(cluster.store.list("jobs.batch"))})
        outcomes.append([(one.decision.ask.queue, one.decision.outcome, one.decision.reason) for one in engine.last])
    return engine, counts, outcomes


def test_within_three_seconds_the_cluster_is_full_and_an_ask_waits():
    """Nothing is free for the frontend, whose queue is below its guarantee, and the engine acts within 15 seconds."""
    clock = ManualClock()
    cluster = demo_cluster(clock)
    cluster.begin()
    engine = DayEngine(cluster, clock)
    clock.advance(3.0)
    snapshot = engine.snapshot()
    asks = [pod for pod in snapshot.asks if pod.queue == "root.tenant-1.queue-b" and pod.unschedulable_ms is not None]
    usage = snapshot.usage(engine.tree)["root.tenant-1.queue-b"]
    assert asks
    assert usage["cpu"] < engine.tree["root.tenant-1.queue-b"].guaranteed["cpu"]
    engine.run(12)
    assert engine.carried_out


def test_preemptions_keep_happening(day):
    """From the first one on the longest pause between two is under a minute, for as long as the day repeats."""
    engine, _, _ = day
    moments = [moment for moment, _ in engine.carried_out]
    assert moments[0] < 15
    assert max(later - earlier for earlier, later in pairwise(moments)) < 60
    assert ROUNDS * LENGTH - moments[-1] < 60


def test_every_preemption_keeps_the_laws_and_is_bound(day):
    """The laws refuse none of the decisions, and no node stays reserved for an ask that never comes."""
    engine, _, _ = day
    assert engine.refused == []
    assert len(engine.held) <= 4


def test_several_decisions_of_a_round_take_two_victims(day):
    """In every round asks of at least two queues are served, some by one victim and some by two."""
    engine, _, _ = day
    for number in range(ROUNDS):
        made = [one.decision for at, one in engine.carried_out if number * LENGTH <= at < (number + 1) * LENGTH]
        assert len({decision.ask.queue for decision in made}) >= 3
        assert sum(1 for decision in made if len(decision.victims) == 2) >= 3


def test_an_unfenced_queue_reaches_into_a_tenant_and_tenants_stay_within_their_fence(day):
    """Victims of system's asks are a tenant's pods; those of a tenant's asks are of the same tenant."""
    engine, _, _ = day
    pairs = {
        (one.decision.ask.queue, victim.pod.queue) for _, one in engine.carried_out for victim in one.decision.victims
    }
    assert any(asker == "root.system" and victim.startswith("root.tenant-") for asker, victim in pairs)
    tenants = [(asker.split(".")[1], victim.split(".")[1]) for asker, victim in pairs if asker != "root.system"]
    assert tenants
    assert all(asker == victim for asker, victim in tenants)


def test_in_every_round_a_gang_gets_room_by_one_decision_and_starts_as_a_whole(day):
    """Its four workers take the place of pods of training, and no group remains of the rounds before."""
    engine, _, _ = day
    gangs = [(at, one.decision) for at, one in engine.carried_out if one.decision.group]
    assert [int(at // LENGTH) for at, _ in gangs] == [*range(ROUNDS)]
    for _, decision in gangs:
        assert (len(decision.nodes), decision.group.needed, decision.ask.queue) == (4, 4, "root.tenant-1.queue-b")
        assert {victim.pod.queue for victim in decision.victims} == {"root.tenant-1.training"}
    started = [one for one in engine.cluster.store.list("events") if one["reason"] == "Scheduled"]
    assert sum("reindex" in one["involvedObject"]["name"] for one in started) in (0, 4)
    assert engine.cluster.store.list("podgroups.scheduling.k8s.io") == []


def test_some_asks_rightly_get_nothing(day):
    """Queue A is fenced in, and in the evening queue-2 is so near its guarantee that queue-1 waits."""
    _, _, outcomes = day
    seen = {item for second in outcomes for item in second}
    assert ("root.queue-a", Outcome.NO_CANDIDATE, Reason.FENCE) in seen
    assert ("root.tenant-2.queue-1", Outcome.NO_CANDIDATE, Reason.NO_CANDIDATES) in seen


def test_the_day_never_grows_without_end(day):
    """Pods, jobs and Events stay bounded round after round."""
    _, counts, _ = day
    assert max(second["pods"] for second in counts) <= 160
    assert max(second["script jobs"] for second in counts) <= 8
    assert max(second["events"] for second in counts) <= 510


@pytest.mark.suite("worlds")
def test_the_day_stays_bounded_without_any_engine():
    """When nobody preempts, asks wait and jobs are not piled up behind them."""
    clock = ManualClock()
    cluster = demo_cluster(clock)
    cluster.begin()
    clock.advance(5 * LENGTH)
    assert cluster.state()["script"]["round"] in (5, 6)
    assert cluster.state()["counts"]["pods"] <= 160


def test_guarantees_are_within_the_capacity_and_within_their_parents():
    """The sum of the guarantees fits on the nodes, and children's sums are their parents'."""
    tree, cluster = demo_tree(), demo_cluster(ManualClock())
    cluster.begin()
    nodes = cluster.store.list("nodes")
    capacity = total(parse_amounts(node["status"]["allocatable"]) for node in nodes)
    top = total(tree[path].guaranteed for path in tree.children[tree.root])
    assert all(amount <= capacity[resource] for resource, amount in top.items())
    for path in ("root.tenant-1", "root.tenant-2"):
        assert total(tree[child].guaranteed for child in tree.children[path]) == tree[path].guaranteed


@pytest.mark.suite("worlds")
def test_the_same_seed_gives_the_same_day():
    """Two clusters of one seed hold the same pods on the same nodes after more than a round; another seed does not."""

    def placed(seed: int) -> set[tuple[str, str | None]]:
        clock = ManualClock()
        cluster = demo_cluster(clock, seed)
        cluster.begin()
        clock.advance(LENGTH + 40)
        return {(pod["metadata"]["name"], pod["spec"].get("nodeName")) for pod in cluster.store.list("pods")}

    assert placed(7) == placed(7)
    assert placed(7) != placed(8)


def test_a_surge_brings_an_ask_that_the_laws_entitle():
    """In a calm moment a surge is arranged, and the engine preempts for the very ask that it names."""
    clock = ManualClock()
    cluster = demo_cluster(clock)
    cluster.begin()
    engine = DayEngine(cluster, clock)
    clock.advance(1.5)
    done = cluster.surge()
    before = len(engine.carried_out)
    engine.run(8)
    served = {(one.decision.ask.namespace, one.decision.ask.name) for _, one in engine.carried_out[before:]}
    assert (done["ask"]["namespace"], done["ask"]["name"]) in served
    assert done["message"]


def test_a_reset_goes_back_to_the_start(monkeypatch):
    """After a reset in the middle of the day the cluster is as it was: same objects, script at its beginning."""
    clock = ManualClock()
    cluster = demo_cluster(clock)
    cluster.begin()
    clock.advance(1.5)
    start = _shape(cluster)
    engine = DayEngine(cluster, clock)
    engine.run(70)
    lease = {"metadata": {"name": "mine", "namespace": "kube-system"}}
    cluster.store.create("leases.coordination.k8s.io", lease)
    assert _shape(cluster) != start
    cluster.reset()
    clock.advance(1.5)
    assert _shape(cluster) == start
    assert cluster.state()["script"]["round"] == 1
    assert cluster.store.get("leases.coordination.k8s.io", "kube-system", "mine")


def _shape(cluster: SimulatedCluster) -> dict[str, list[str]]:
    """Return what there is, without generated suffixes."""
    store = cluster.store
    pods = [(pod["metadata"]["generateName"], bool(pod["spec"].get("nodeName"))) for pod in store.list("pods")]
    nodes = [(node["metadata"]["name"], str(node["spec"].get("taints"))) for node in store.list("nodes")]
    sets = [(item["metadata"]["name"], item["spec"]["replicas"]) for item in store.list("replicasets.apps")]
    return {"pods": sorted(map(str, pods)), "nodes": sorted(map(str, nodes)), "sets": sorted(map(str, sets))}
