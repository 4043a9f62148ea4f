"""What holds a whole decision back, and says so: a pause, a budget, a lease that another has."""

import msgspec
import pytest
from django.core.exceptions import ValidationError

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult
from engine.model.objects import DisruptionBudget, Pod, Requirement
from scheduler_admin.accounts.models import Tenant
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Pause
from scheduler_admin.clusters.safeguards.pauses import pause
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.decisions.models import Decision, Victim
from tests.builders import ask, node, pod
from tests.worker.conftest import add_cluster
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


def test_a_pause_holds_every_decision_and_says_so(watch: Watch) -> None:
    """Paused means nothing is evicted, and the decision waits with the word ``paused``."""
    cluster = add_cluster()
    pause(cluster=cluster, actor=None, reason="a look")
    run(cluster, watch, times=2)
    assert (preemption().state, preemption().hold) == (Decision.State.ON_HOLD, "paused")
    assert watch.actuator.did == []


def test_a_pause_in_the_middle_stops_before_the_next_eviction(watch: Watch) -> None:
    """Flipped after the first of two evictions, the second is not sent."""
    cluster = add_cluster()
    watch.put(ask("prod-0", queue="prod", cpu=2))
    evict = watch.actuator.evict

    def pausing(victim: object, *, dry_run: bool = False, again: bool = False) -> object:
        result = evict(victim, dry_run=dry_run, again=again)
        if not dry_run:
            pause(cluster=cluster, actor=None, reason="a look")
        return result

    watch.actuator.evict = pausing
    run(cluster, watch, times=2)
    assert len(preemption().victims.all()) == 2
    assert len(watch.actuator.evicted) == 1
    Pause.objects.all().delete()
    run(cluster, watch)
    assert len(watch.actuator.evicted) == 2


@pytest.mark.parametrize(
    ("settings", "hold"),
    [({"evictions_per_minute": 0}, "evictions-per-minute"), ({"reserved_nodes": 0}, "reserved-nodes")],
)
def test_a_budget_drops_the_whole_decision(settings: dict[str, int], hold: str, watch: Watch) -> None:
    """A limit that is reached holds the decision back and is named."""
    run(add_cluster(**settings), watch)
    assert preemption().hold == hold
    assert watch.actuator.did == []


def test_evictions_per_minute_are_counted_over_all_decisions(watch: Watch) -> None:
    """Two asks, a budget of one: one decision is carried out, the other held, until the minute is over."""
    cluster = add_cluster(evictions_per_minute=1)
    more = [pod(f"test-{number}", queue="test", node="n2", app="test") for number in range(4, 8)]
    watch.put(ask("prod-1", queue="prod"), node("n2", 4), more)
    run(cluster, watch)
    assert sorted(Decision.objects.filter(outcome="preempt").values_list("hold", flat=True)) == [
        "",
        "evictions-per-minute",
    ]
    assert len(watch.actuator.evicted) == 1


def test_a_disruption_budget_that_a_set_would_break_holds_it_back(cluster: Cluster, watch: Watch) -> None:
    """The budget is charged for the whole set before anything is begun."""
    watch.put(ask("prod-0", queue="prod", cpu=2), DisruptionBudget(namespace="ns", name="keep", allowed=1))
    run(cluster, watch)
    assert preemption().hold == "disruption-budget"
    watch.put(DisruptionBudget(namespace="ns", name="keep", allowed=2))
    run(cluster, watch)
    assert len(watch.actuator.evicted) == 2


def test_without_the_lease_nothing_is_done(cluster: Cluster, watch: Watch) -> None:
    """Where another installation acts, we only say what we would do."""
    watch.leading = False
    run(cluster, watch)
    assert preemption().hold == "other-installation"
    assert watch.actuator.did == []


def test_where_nobody_can_take_the_lease_that_is_told_apart(cluster: Cluster, watch: Watch) -> None:
    """No other installation acts: it is ours to put right."""
    watch.leading, watch.lease_trouble = False, "leases is forbidden"
    run(cluster, watch)
    assert preemption().hold == "no-lease"
    assert watch.actuator.did == []
    assert [one["interlock"] for one in ClusterStatus.objects.get().holds] == ["no-lease"]


def test_who_is_stopped_in_the_cluster_itself_evicts_nobody_and_says_why(cluster: Cluster, watch: Watch) -> None:
    """Also while nothing would be evicted."""
    watch.leading, watch.stopped = False, "outage 4711"
    run(cluster, watch)
    assert preemption().hold == "stopped-in-cluster"
    assert watch.actuator.did == []
    (hold,) = ClusterStatus.objects.get().holds
    assert (hold["interlock"], hold["reason"], hold["decisions"]) == ("stopped-in-cluster", "outage 4711", 1)


def yunikorn(namespace: str = "yunikorn") -> Pod:
    """Its scheduler, as its chart labels it."""
    return pod("yunikorn-scheduler-0", namespace=namespace, node="n1", cpu=0)


def test_a_scheduler_that_appears_later_stops_us_until_somebody_confirms_it(cluster: Cluster, watch: Watch) -> None:
    """It may preempt for the same pods; setting enforce again is the confirmation."""
    run(cluster, watch)
    watch.actuator.did.clear()
    watch.put(yunikorn(), ask("prod-1", queue="prod"))
    cluster.refresh_from_db()
    run(cluster, watch)
    (hold,) = [one for one in ClusterStatus.objects.get().holds if one["interlock"] == "other-scheduler"]
    assert hold["reason"] == "YuniKorn"
    assert watch.actuator.did == []
    with pytest.raises(ValidationError, match="in this cluster and may preempt pods too: YuniKorn"):
        set_mode(cluster=cluster, mode="enforce", actor=None, reason="both")
    set_mode(cluster=cluster, mode="enforce", actor=None, reason="both", override=cluster.name)
    run(cluster, watch)
    assert "other-scheduler" not in [one["interlock"] for one in ClusterStatus.objects.get().holds]


def test_one_that_ran_there_before_is_known_and_a_tenants_pod_is_no_scheduler(cluster: Cluster, watch: Watch) -> None:
    """However it is called."""
    Tenant.objects.create(name="lab", namespaces=["lab"])
    watch.put(yunikorn())
    run(cluster, watch)
    cluster.refresh_from_db()
    assert cluster.schedulers_known == ["YuniKorn"]
    watch.put(pod("volcano-scheduler-0", namespace="lab", node="n1", cpu=0))
    run(cluster, watch)
    assert "other-scheduler" not in [one["interlock"] for one in ClusterStatus.objects.get().holds]


def test_victims_that_are_still_to_go_are_charged_to_their_budget(cluster: Cluster, watch: Watch) -> None:
    """A second set is not begun on a budget that the first has used up."""
    watch.put(DisruptionBudget(namespace="ns", name="keep", allowed=1))
    watch.actuator.evicting = {f"test-{n}": EvictionResult(outcome=EvictionOutcome.HELD) for n in range(4)}
    run(cluster, watch)
    more = [pod(f"test-{number}", queue="test", node="n2", app="test") for number in range(4, 8)]
    watch.put(ask("prod-1", queue="prod"), node("n2", 4), more)
    run(cluster, watch)
    assert Decision.objects.get(ask_name="prod-1", outcome="preempt").hold == "disruption-budget"


def test_a_victim_that_has_come_under_two_budgets_leaves_the_others_charged(cluster: Cluster, watch: Watch) -> None:
    """What one decision still has to take is kept back, whatever the API server will say of it."""
    watch.put(DisruptionBudget(namespace="ns", name="keep", allowed=1))
    watch.actuator.evicting = {f"test-{n}": EvictionResult(outcome=EvictionOutcome.HELD) for n in range(4)}
    run(cluster, watch)
    [held] = Victim.objects.values_list("name", flat=True)
    watch.put(msgspec.structs.replace(watch.state.pods[f"uid-{held}"], labels={"two": "yes"}))
    two = (Requirement("two", "Exists"),)
    watch.put(DisruptionBudget(namespace="ns", name="two", expressions=two, allowed=1))
    more = [pod(f"test-{number}", queue="test", node="n2", app="test") for number in range(4, 8)]
    watch.put(ask("prod-1", queue="prod"), node("n2", 4), more)
    run(cluster, watch)
    assert Decision.objects.get(ask_name="prod-1", outcome="preempt").hold == "disruption-budget"
