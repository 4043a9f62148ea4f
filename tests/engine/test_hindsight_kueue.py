"""What Kueue preempted is decided again by its own rules, on its quota as it was just before."""

import gzip
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.explain import replay_lines
from engine.explain.observed.kueue_replay import KNOWN, WHY_NOT_KNOWN
from engine.formats.kueue.cluster import quota_cluster
from engine.model.objects import KueueSettings, LocalQueue, Preempted
from engine.model.quota import Cohort, QuotaCluster
from engine.model.snapshot import ClusterState, ObjectChange
from engine.observation.evictions import (
    EvictionSource,
    KnownBy,
    NotReplayedReason,
    Observed,
    WorkloadReplay,
    decode,
    encode,
    merge_observed,
    observe,
)
from engine.observation.replay import replay_observed
from tests.builders import NOW, node, pod, queue, tree
from tests.engine import quota_builders as quota
from tests.engine.test_observed_kueue import text
from tests.fidelity.recorded import some

TREE = tree({"a": queue(), "b": queue()})
AT = NOW - 2_000
DATA = Path(__file__).parents[1] / "data" / "kueue"


def workloads_of(state: ClusterState) -> dict[Any, Any]:
    return state.workloads


class Kueue:
    """A cluster where Kueue runs, whose changes are noted as a watcher notes them."""

    def __init__(self, given: QuotaCluster, sharing: KueueSettings | None = None) -> None:
        self.state = ClusterState()
        self.state.nodes["n1"] = node("n1", 8)
        self.state.flavors |= given.flavors
        self.state.cluster_queues |= given.queues
        self.state.cohorts |= given.cohorts
        self.state.workloads |= {one.uid: one for one in given.workloads}
        if sharing is not None:
            self.state.sharing[sharing.name] = sharing

    def change(self, uid: str, **changes: Any) -> None:
        before = self.state.workloads[uid]
        after = msgspec.structs.replace(before, **changes)
        self.state.changes.append(ObjectChange(workloads_of, uid, before, after))
        self.state.workloads[uid] = after

    def preempts(self, asker: str, **why: str) -> None:
        """What it writes, and what follows: the victims' pods are told to go, and their quota is free."""
        for uid, word in why.items():
            one = self.state.workloads[uid]
            told = Preempted(uid=uid, namespace=one.namespace, name=one.name, at_ms=AT, ask_uid=asker,
                             ask_kind="Workload", why=word)  # fmt: skip
            self.change(uid, preempted=told, evicted=True)
        for uid in why:
            one = self.state.workloads[uid]
            gone = pod(f"pod-of-{uid}", node="n1", namespace=one.namespace, workload=one.name,
                       terminating=True, deleted_ms=AT + 500, created_ms=AT - 60_000)  # fmt: skip
            self.state.pods[gone.uid] = gone
            self.change(uid, holds=False, usage={}, queue="")

    def seen(self) -> Observed:
        """The one preemption, with hindsight."""
        (found,) = replay_observed(observe(self.state, TREE, now_ms=NOW), self.state, lambda _ms: TREE).decisions
        assert found.source is EvictionSource.KUEUE
        return found

    def weighed(self) -> WorkloadReplay:
        found = self.seen().weighed
        assert found is not None
        return found


def recorded() -> Iterator[Any]:
    """Kueue's own decisions with somebody to tell to go: of who is on the way out already it writes nothing."""
    for path in sorted(DATA.glob("*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            case = msgspec.json.decode(line)
            if told(quota_cluster(case["objects"], now_ms=0), case["expect"]):
                yield pytest.param(case, id=case["name"])


def told(given: QuotaCluster, outcome: Mapping[str, Any]) -> dict[str, str]:
    """Workload (uid) -> the reason that Kueue writes there."""
    going = {one.key: one.uid for one in given.workloads if not one.evicted}
    targets = outcome["targets"]
    return {going[one["workload"]]: one["reason"] for one in targets if one["workload"] in going}


def outcomes(case: Mapping[str, Any]) -> list[Any]:
    """Those that Kueue accepts: some it leaves to chance."""
    return case["expect"].get("any_of") or [case["expect"]]


@pytest.mark.parametrize("case", list(some(recorded())))
def test_of_what_kueue_really_decided_the_answer_is_the_same(case: dict[str, Any]) -> None:
    """Each recorded decision, as conditions of its victims: the same workloads go, for the same reasons."""
    now_ms = int(datetime.fromisoformat(case["now"]).timestamp() * 1000)
    given = quota_cluster(case["objects"], now_ms=now_ms)
    fair = case["fair_sharing"]
    named = tuple((fair or {}).get("preemptionStrategies") or ())
    asker = next(one.uid for one in given.workloads if one.key == case["asker"])
    agreeing = []
    for expected in outcomes(case):
        world = Kueue(given, KueueSettings(name="kueue-manager-config", fair=fair is not None, strategies=named))
        world.preempts(asker, **told(given, expected))
        found = world.weighed()
        agreeing.append(found.agrees)
        assert found.known_by is KnownBy.CONFIG
        assert found.policy == case["policy"]
    assert any(agreeing)


A, B = quota.queue("a", cpu=4000), quota.queue("b", cpu=4000)


def borrowed(sharing: KueueSettings | None = None) -> Kueue:
    """Queue b runs two workloads of three cores, though it has four; in a, which has four, one waits for three."""
    holding = [quota.holds("old", "b", priority=1, cpu=3000), quota.holds("new", "b", cpu=3000)]
    return Kueue(quota.cluster(A, B, *holding, quota.waits("a", cpu=3000)), sharing)


def said(seen: Observed) -> str:
    return " ".join(map(text, replay_lines(seen)))


def test_the_answer_tells_who_goes_from_where_why_and_which_flavor_is_had() -> None:
    """And how it is known by which of its two ways Kueue goes."""
    world = borrowed(KueueSettings(name="kueue-manager-config"))
    world.preempts("ask", new="InCohortReclamation")
    lines = said(found := world.seen())
    assert found.weighed is not None
    assert found.weighed.agrees
    assert (
        "A replay with the policy “cohort” on Kueue’s quota just before the preemption gives the same result" in lines
    )
    assert "The replay preempts n/new of the ClusterQueue b (Kueue: InCohortReclamation)." in lines
    assert "The workload would get: cpu=default." in lines
    assert KNOWN[KnownBy.CONFIG] in lines
    assert WHY_NOT_KNOWN not in lines


def test_other_workloads_are_told_by_name_on_both_sides() -> None:
    """The one of the higher priority went, which ours would have left."""
    world = borrowed()
    world.preempts("ask", old="InCohortReclamation")
    lines = said(world.seen())
    assert "gives other workloads." in lines
    assert "The replay would have spared n/old." in lines
    assert "The replay would have preempted n/new." in lines
    assert KNOWN[KnownBy.ASSUMED] in lines
    assert WHY_NOT_KNOWN in lines


def test_the_same_workloads_for_another_reason_are_no_agreement() -> None:
    """As after a rule was changed."""
    world = borrowed()
    world.preempts("ask", new="InCohortReclaimWhileBorrowing")
    assert "gives the same workloads, but for other reasons." in said(world.seen())
    assert world.weighed().known_by is KnownBy.REASONS


def test_where_nobody_would_have_gone_that_is_told_with_kueues_word_for_it() -> None:
    """There is room: the queue has more quota than it uses, and the flavor is told that it would get."""
    world = Kueue(quota.cluster(A, quota.holds("w", "a", cpu=1000), quota.waits("a", cpu=3000)))
    world.preempts("ask", w="InClusterQueue")
    lines = said(world.seen())
    assert "preempts nothing (Kueue’s mode Fit)." in lines
    assert "The workload would get: cpu=default." in lines


def test_fair_sharing_is_told_by_its_reason_where_no_configmap_can_be_read() -> None:
    """With the shares of both sides before anybody went."""
    holding = [quota.holds("a1", "a", cpu=4000), quota.holds("b1", "b", cpu=4000), quota.holds("b2", "b", cpu=4000)]
    spare = quota.queue("c", cpu=4000)
    world = Kueue(quota.cluster(A, B, spare, *holding, quota.waits("a", priority=0, cpu=2000)))
    world.preempts("ask", b1="InCohortFairSharing")
    found = world.weighed()
    assert (found.policy, found.known_by) == ("fair-share", KnownBy.REASONS)
    assert found.shares == {"a": "0", "b": "333.3333333333333"}
    assert "Shares before the preemption: a 0, b 333.33." in said(world.seen())


def test_strategies_that_nobody_knows_are_not_guessed_at() -> None:
    """A newer Kueue may have more of them."""
    world = borrowed(KueueSettings(name="kueue-manager-config", fair=True, strategies=("Newest",)))
    world.preempts("ask", new="InCohortReclamation")
    assert world.weighed().known_by is KnownBy.ASSUMED


def test_what_was_not_seen_from_its_beginning_is_not_decided_again() -> None:
    """As after a list: part of what was preempted then may have been gone from the quota by the oldest known moment."""
    world = borrowed()
    world.preempts("ask", new="InCohortReclamation")
    world.state.changes.clear()
    assert (world.seen().weighed, world.seen().untold) == (None, NotReplayedReason.NOT_SEEN)


def test_of_an_ask_that_was_not_waiting_then_nothing_is_told() -> None:
    """Nobody knows what it was for."""
    world = borrowed()
    world.change("ask", holds=True)
    world.preempts("ask", new="InCohortReclamation")
    assert (world.seen().weighed, world.seen().untold) == (None, NotReplayedReason.NOT_SEEN)
    unnamed = borrowed()
    unnamed.preempts("", new="InCohortReclamation")
    assert unnamed.seen().untold is NotReplayedReason.NO_ASK


def test_cohorts_in_a_ring_are_decided_by_nobody() -> None:
    """Neither by Kueue; it is told as not seen, and breaks nothing."""
    world = borrowed()
    world.preempts("ask", new="InCohortReclamation")
    world.state.cohorts |= {name: Cohort(name=name, parent=above) for name, above in (("x", "y"), ("y", "x"))}
    assert world.seen().weighed is None


def test_which_queue_a_workload_waits_in_is_that_of_then() -> None:
    """Its LocalQueue is rewound as all else is."""
    world = borrowed()
    world.state.workloads["ask"] = msgspec.structs.replace(world.state.workloads["ask"], queue="", local_queue="lq")
    world.state.local_queues["n", "lq"] = lead = LocalQueue(namespace="n", name="lq", queue="a")
    world.preempts("ask", new="InCohortReclamation")
    moved = msgspec.structs.replace(lead, queue="b")
    world.state.changes.append(ObjectChange(lambda state: state.local_queues, ("n", "lq"), lead, moved))
    world.state.local_queues["n", "lq"] = moved
    assert world.weighed().queue == "a"


def test_it_is_kept_and_read_back_and_stays_when_later_victims_join() -> None:
    """Pods of one workload may go one after the other."""
    world = borrowed()
    world.preempts("ask", new="InCohortReclamation")
    found = world.seen()
    assert decode(encode(found)) == found
    later = msgspec.structs.replace(found, weighed=None, untold=NotReplayedReason.NOT_SEEN)
    assert merge_observed(found, later).weighed == found.weighed
    assert merge_observed(later, found).weighed == found.weighed


def test_nothing_is_decided_by_flavors_that_were_not_read() -> None:
    """Kueue had them, or it had preempted nobody; without them ours would always have left all where they were."""
    world = borrowed()
    world.preempts("ask", new="InCohortReclamation")
    world.state.flavors.clear()
    world.state.cluster_queues |= {
        name: msgspec.structs.replace(one, groups=(quota.ResourceGroup(("cpu",), (quota.FLAVOR,)),))
        for name, one in world.state.cluster_queues.items()
    }
    assert (world.seen().weighed, world.seen().untold) == (None, NotReplayedReason.NOT_SEEN)


def two_asks() -> Kueue:
    """Two that Kueue preempted for, one after the other."""
    waits = [msgspec.structs.replace(quota.waits("a", cpu=1000), uid=uid, name=uid) for uid in ("first", "second")]
    a, b = quota.queue("a", cpu=4000), quota.queue("b", cpu=4000)
    holding = [quota.holds(f"w{one}", "b", cpu=2000) for one in range(4)]
    world = Kueue(quota.cluster(a, b, *holding, *waits))
    world.preempts("first", w0="InCohortReclamation")
    world.preempts("second", w1="InCohortReclamation")
    return world


def again_of(world: Kueue) -> list[Observed]:
    found = replay_observed(observe(world.state, TREE, now_ms=NOW), world.state, lambda _ms: TREE).decisions
    return sorted(found, key=lambda one: one.untold or "")


def test_workloads_count_toward_what_is_decided_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where most of them wait there are few pods, and each answer takes its time all the same."""
    world = two_asks()
    assert [one.untold for one in again_of(world)] == [None, None]
    monkeypatch.setattr("engine.observation.replay.PODS_AT_ONCE", 2 * len(world.state.pods) + 1)
    assert [one.untold for one in again_of(world)] == [None, NotReplayedReason.TOO_MANY]


def test_all_that_are_decided_again_at_once_share_the_time_for_what_would_have_spared_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One alone has enough of it here."""
    world = two_asks()
    monkeypatch.setattr("engine.observation.replay.kueue_counterfactuals._WORKLOADS", 4 * len(world.state.workloads))
    weighed = [one.weighed for one in again_of(world) if one.weighed is not None]
    assert any(one.agrees for one in weighed)
    assert [one.spared for one in weighed] == [None, None]
    alone = borrowed()
    alone.preempts("ask", new="InCohortReclamation")
    monkeypatch.setattr("engine.observation.replay.kueue_counterfactuals._WORKLOADS", 4 * len(alone.state.workloads))
    assert alone.weighed().spared
