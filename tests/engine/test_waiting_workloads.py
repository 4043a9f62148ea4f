"""Why one of Kueue's workloads waits, tier by tier: on Kueue's own quota, and by its own rules."""

import gzip
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.analysis.pending_reasons import (
    BORROWS,
    FLAVORS,
    WORKLOADS,
    Need,
    PendingReasons,
    Remedy,
    Tier,
    TierName,
    pending_workload_reasons,
)
from engine.explain import tier_sentence, workloads_ahead
from engine.formats.kueue.cluster import quota_cluster
from engine.model.change import Change
from engine.model.objects import FlavorQuota, KueueSettings, Preemption, ResourceGroup
from engine.model.quota import QuotaCluster, Take, Workload
from engine.policies.cohort import Mode, Strategy, decide, inadmissible, strategies_of
from tests.engine.quota_builders import cluster, holds, queue, waits
from tests.engine.test_explain import whole
from tests.fidelity.recorded import some

A, B = queue("a", cpu=4_000), queue("b", cpu=4_000)
DATA = Path(__file__).parents[1] / "data" / "kueue"


def ask_of(at: QuotaCluster) -> Workload:
    """The workload called ``ask``."""
    return next(one for one in at.workloads if one.uid == "ask")


def why(at: QuotaCluster) -> PendingReasons:
    """Why it waits, under classic preemption."""
    return pending_workload_reasons(at, ask_of(at), None, f"root.{ask_of(at).queue}")


def said(tier: Tier, priority: int = 5) -> str:
    """Its sentence, in English."""
    return whole(tier_sentence(tier, priority))


def names(found: PendingReasons) -> list[TierName]:
    return [one.name for one in found.tiers]


def test_with_quota_left_nobody_is_looked_at() -> None:
    """It is Kueue's turn."""
    found = why(cluster(A, B, waits("a", count=3, cpu=1_000)))
    assert (names(found), found.refusing) == ([TierName.ADMISSIBLE, TierName.AVAILABLE], ())
    assert found.tiers[1].needs == (Need(where="root.a", resource="cpu", required=3_000, available=8_000),)


def test_who_goes_for_it_makes_up_what_is_missing() -> None:
    """All that b has borrowed comes back."""
    found = why(cluster(A, B, holds("x", "b", cpu=4_000), holds("y", "b", cpu=4_000), waits("a", count=4, cpu=1_000)))
    assert not found.refusing
    left = found.tiers[-1]
    assert (left.needs[0].available, left.needs[0].evictable) == (0, 4_000)
    who = next(one for one in found.tiers if one.name is TierName.PRIORITY)
    assert who.needs == (Need(resource=WORKLOADS, required=1, available=2),)
    assert said(who).endswith("preempt 2 workloads at priority 5. Together they hold cpu 8.")


def test_more_than_its_queue_could_ever_have_is_told_with_the_quota_that_would_do() -> None:
    """Whatever the others use."""
    found = why(cluster(A, B, waits("a", count=12, cpu=1_000)))
    most = found.refusing[0]
    assert (most.name, most.needs[0].available, most.needs[0].missing) == (TierName.POTENTIAL, 8_000, 4_000)
    assert most.remedies == (Remedy(change=Change.GUARANTEE, queues={"root.a": {"cpu": 8_000}}, enough=True),)


def test_where_nobody_may_go_the_priority_that_would_do_is_told() -> None:
    """Its queue takes of its own only what has a lower priority."""
    alone = queue("a", "", cpu=4_000)
    found = why(cluster(alone, holds("x", "a", priority=9, cpu=4_000), waits("a", count=2, cpu=1_000)))
    assert [one.name for one in found.refusing] == [TierName.PRIORITY, TierName.AVAILABLE]
    who, left = found.refusing
    assert said(who) == "The preemption rules of its queue let it preempt no workload at priority 5."
    assert who.remedies == (Remedy(change=Change.PRIORITY, priority=10, enough=True),)
    assert left.remedies == (Remedy(change=Change.GUARANTEE, queues={"root.a": {"cpu": 6_000}}, enough=True),)


def test_a_stopped_queue_is_what_stops_it() -> None:
    """Then neither quota nor priority helps, and none is proposed."""
    found = why(
        cluster(queue("a", cpu=4_000, active=False), holds("x", "a", priority=9, cpu=4_000), waits("a", cpu=1_000))
    )
    considered, *others = found.refusing
    assert considered.name is TierName.ADMISSIBLE
    assert said(considered) == "Its ClusterQueue is stopped or inactive, so no workloads are admitted there."
    assert [one for tier in others for one in tier.remedies] == []


def test_a_closed_gate_of_its_preemption_stops_it_where_others_would_have_to_go() -> None:
    """With quota left it stops nothing."""
    gated = msgspec.structs.replace(waits("a", count=4, cpu=1_000), gated=True)
    holders = (holds("x", "b", cpu=4_000), holds("y", "b", cpu=4_000))
    assert [one.name for one in why(cluster(A, B, *holders, gated)).refusing] == [TierName.ADMISSIBLE]
    assert not why(cluster(A, B, gated)).refusing


def test_a_resource_that_its_queue_has_no_quota_of_is_missing_whole() -> None:
    """There is no flavor of it."""
    found = why(cluster(A, waits("a", gpu=2)))
    assert found.refusing[0].needs[0] == Need(where="root.a", resource="gpu", required=2, available=0)


def test_amounts_are_of_the_flavor_that_comes_nearest() -> None:
    """Named where its queue has more than one."""
    flavors = ("spot", "default")
    quotas = {("spot", "cpu"): FlavorQuota(1_000), ("default", "cpu"): FlavorQuota(4_000)}
    two = msgspec.structs.replace(queue("a", ""), quotas=quotas, groups=(ResourceGroup(("cpu",), flavors),))
    at = msgspec.structs.replace(
        cluster(two, holds("x", "a", priority=9, cpu=3_000), waits("a", count=3, cpu=1_000)),
        flavors={name: msgspec.structs.replace(cluster().flavors["default"], name=name) for name in flavors},
    )
    need = why(at).tiers[-1].needs[0]
    assert (need.resource, need.required, need.available) == ("cpu@default", 3_000, 1_000)


def test_a_queue_that_would_have_to_borrow_takes_nothing_for_that() -> None:
    """What others hold does not count then; with a larger quota of its own it would."""
    found = why(cluster(A, B, holds("x", "b", cpu=6_000), waits("a", count=6, cpu=1_000)))
    (left,) = found.refusing
    assert (names(found), left.shut) == ([TierName.ADMISSIBLE, TierName.POTENTIAL, TierName.AVAILABLE], BORROWS)
    assert said(left) == (
        "a can get only 2 cores more now, and the request is 6 cores. The queue would "
        "have to borrow, and its rules do not let it preempt for borrowed quota."
    )
    assert left.remedies == (Remedy(change=Change.GUARANTEE, queues={"root.a": {"cpu": 6_000}}, enough=True),)


def test_where_no_flavor_suits_its_pods_that_is_what_stops_it() -> None:
    """Quota there is."""
    one = waits("a", count=1, cpu=1_000)
    picky = msgspec.structs.replace(one.pod_sets[0], node_selector={"zone": "a"})
    at = msgspec.structs.replace(
        cluster(A, msgspec.structs.replace(one, pod_sets=(picky,))),
        flavors={"default": msgspec.structs.replace(cluster().flavors["default"], labels={"zone": "b"})},
    )
    (left,) = why(at).refusing
    assert (left.shut, said(left)) == (FLAVORS, "No flavor of a meets the node requirements of its pods.")
    assert left.remedies == ()


def test_who_comes_before_it_is_counted_by_priority_then_time() -> None:
    """In its own queue, as Kueue has one turn for each."""
    first = msgspec.structs.replace(waits("a", priority=9, cpu=1), uid="first")
    later = msgspec.structs.replace(waits("a", cpu=1), uid="later", created_ms=1)
    other = msgspec.structs.replace(waits("b", priority=9, cpu=1), uid="other")
    found = why(cluster(A, B, first, later, other, waits("a", cpu=1))).ahead
    assert (found.cluster, found.queue) == (2, 1)
    assert whole(workloads_ahead(found)) == "1 other workload of its queue is ahead of it."


def test_a_queue_that_preempts_nobody_says_so() -> None:
    """Whoever has what of it."""
    never = queue("a", preemption=Preemption(within=Take.NEVER, reclaim=Take.NEVER), cpu=4_000)
    found = why(cluster(never, B, holds("x", "b", cpu=8_000), waits("a", count=4, cpu=1_000)))
    who = next(one for one in found.refusing if one.name is TierName.PRIORITY)
    assert (who.needs[0].available, who.remedies) == (0, ())


def recorded() -> Iterator[Any]:
    """Kueue's own decisions, by name."""
    for path in sorted(DATA.glob("*.jsonl.gz")):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            case = msgspec.json.decode(line)
            yield pytest.param(case, id=case["name"])


def changed(at: QuotaCluster, ask: Workload, remedy: Remedy) -> tuple[QuotaCluster, Workload]:
    """A remedy, made."""
    if remedy.change is Change.PRIORITY:
        return at, msgspec.structs.replace(ask, priority=remedy.priority)
    ((_path, amounts),) = remedy.queues.items()
    own, quotas = at.queues[ask.queue], dict(at.queues[ask.queue].quotas)
    for name, amount in amounts.items():
        resource, _, flavor = name.partition("@")
        group = own.group_of(resource)
        assert group is not None
        of = (flavor or group.flavors[0], resource)
        quotas[of] = msgspec.structs.replace(quotas[of], nominal=amount)
    queues = {**at.queues, own.name: msgspec.structs.replace(own, quotas=quotas)}
    return msgspec.structs.replace(at, queues=queues), ask


@pytest.mark.parametrize("case", list(some(recorded())))
def test_of_what_kueue_really_decided_the_tiers_let_through_whom_it_served(case: dict[str, Any]) -> None:
    """And with each change that is told it would be served."""
    now_ms = int(datetime.fromisoformat(case["now"]).timestamp() * 1000)
    at = quota_cluster(case["objects"], now_ms=now_ms)
    fair = case["fair_sharing"]
    named = tuple((fair or {}).get("preemptionStrategies") or ())
    strategies: tuple[Strategy, ...] | None = strategies_of(
        KueueSettings(name="", fair=fair is not None, strategies=named)
    )
    ask = next(one for one in at.workloads if one.key == case["asker"])
    if inadmissible(at, ask):
        return
    found = pending_workload_reasons(at, ask, strategies, "root.a")
    expected = case["expect"].get("any_of") or [case["expect"]]
    assert any((one["mode"] == Mode.FIT or bool(one["targets"])) == (not found.refusing) for one in expected)
    for remedy in (one for tier in found.refusing for one in tier.remedies):
        assert decide(*changed(at, ask, remedy), strategies).served, remedy
