"""What people rely on of a pass: it decides, stores first, acts only where it may, and never twice."""

from datetime import timedelta

import msgspec
import pytest
import time_machine
from django.utils import timezone

from engine.cluster.listing import ReflectorSettings
from engine.cluster.outcomes import EvictionOutcome, EvictionResult, Outcome, Result, Swept
from engine.laws import Law, LawCheck
from engine.snapshot import DisruptionBudget, PriorityClass, Requirement
from scheduler_admin.clusters import breakers
from scheduler_admin.clusters.class_figures import unlisted
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Pause
from scheduler_admin.clusters.pausing import pause
from scheduler_admin.clusters.services import set_mode
from scheduler_admin.history import passes, tasks
from scheduler_admin.history.models import Decision, Pass, Usage, Victim
from tests.builders import ask, node, pod, queue, tree
from tests.history.conftest import add_cluster
from tests.history.watch import Watch

pytestmark = pytest.mark.django_db


def run(cluster: Cluster, watch: Watch, times: int = 1) -> None:
    """Run passes over a cluster as it now stands in the database."""
    for _ in range(times):
        current = Cluster.objects.select_related("hierarchy__current").get(pk=cluster.pk)
        passes.run_pass(cluster=current, watch=watch)


def preemption() -> Decision:
    """The one decision that preempts."""
    return Decision.objects.get(outcome="preempt")


def test_an_ask_below_its_guarantee_gets_a_pod_evicted_and_is_followed_to_its_end(
    cluster: Cluster, watch: Watch
) -> None:
    """A decision is stored, its node reserved, its victim judged and evicted, and closed when the ask is bound."""
    run(cluster, watch)
    row = preemption()
    [victim] = row.victims.all()
    assert row.state == Decision.State.WAITING
    assert watch.actuator.did == ["reserve n1 prod-0", f"judge {victim.name}", f"evict {victim.name}"]
    watch.gone(victim.name)
    watch.bound("prod-0", "n1")
    run(cluster, watch)
    row.refresh_from_db()
    assert (row.state, row.ending) == (Decision.State.CLOSED, Decision.Ending.BOUND)
    assert row.victims.get().state == Victim.State.GONE
    assert [step.kind for step in row.steps.all()] == [
        "seen", "decided", "reserved", "evicted", "exited", "released", "closed",
    ]  # fmt: skip


def test_an_open_decision_is_not_decided_again(cluster: Cluster, watch: Watch) -> None:
    """While its victims exit, an ask has one decision and its victims one eviction."""
    run(cluster, watch, times=3)
    assert Decision.objects.filter(outcome="preempt").count() == 1
    assert len(watch.actuator.evicted) == 1


@pytest.mark.parametrize("mode", ["observe", "advise"])
def test_without_enforce_the_same_decision_is_stored_and_nothing_is_done(mode: str, watch: Watch) -> None:
    """Observe and advise store what would be done, touch nothing, and hold no lease."""
    cluster = add_cluster(mode=mode)
    run(cluster, watch, times=2)
    row = preemption()
    assert (row.state, row.mode, row.count) == (Decision.State.NOTED, mode, 2)
    assert watch.actuator.did == []
    assert watch.leading is False


def test_dry_and_live_runs_take_the_same_decision_bytes(watch: Watch) -> None:
    """The mode never changes what is decided."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False):
        run(add_cluster(mode="observe"), watch)
        noted = preemption().document
        Decision.objects.all().delete()
        Cluster.objects.update(mode="enforce")
        watch.leading = True
        run(Cluster.objects.get(), watch)
        assert preemption().document == noted


def test_an_ask_with_the_same_outcome_changes_one_row(cluster: Cluster, watch: Watch) -> None:
    """Waiting is one row with a count, not a row per pass."""
    watch.put(ask("prod-0", queue="prod", never_preempts=True))
    run(cluster, watch, times=4)
    row = Decision.objects.get()
    assert (row.reason, row.count) == ("preemption-policy-never", 4)
    assert row.last_seen > row.first_seen


def test_an_ask_that_simply_fits_leaves_no_row(cluster: Cluster, watch: Watch) -> None:
    """Pods on their way to a node are not history."""
    watch.put(node("n2", 4))
    run(cluster, watch)
    assert not Decision.objects.exists()


def test_a_plan_that_breaks_a_law_is_stored_as_refused_and_not_carried_out(
    cluster: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit has the last word."""
    broken = (LawCheck(law=Law.GUARANTEE, holds=False, sums=()),)
    monkeypatch.setattr("engine.planning.audit", lambda *_args, **_settings: broken)
    run(cluster, watch, times=2)
    row = preemption()
    assert (row.state, row.ending, row.count) == (Decision.State.CLOSED, Decision.Ending.REFUSED, 2)
    assert watch.actuator.did == []


def test_a_pause_holds_every_decision_and_says_so(watch: Watch) -> None:
    """Paused means nothing is evicted, and the decision waits with the word ``paused``."""
    cluster = add_cluster()
    pause(cluster=cluster, actor=None, reason="a look")
    run(cluster, watch, times=2)
    assert (preemption().state, preemption().hold) == (Decision.State.HELD, "paused")
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
    assert preemption().hold == "lease"
    assert watch.actuator.did == []


def test_leaving_enforce_frees_the_room(cluster: Cluster, watch: Watch) -> None:
    """An open decision ends, and its node is released, when the cluster is no longer acted on."""
    run(cluster, watch)
    Cluster.objects.update(mode="observe")
    run(cluster, watch)
    assert Decision.objects.get(pk=Decision.objects.earliest("pk").pk).ending == Decision.Ending.EXPIRED
    assert "release n1" in watch.actuator.did


def test_nothing_of_ours_is_left_behind_on_leaving_enforce(cluster: Cluster, watch: Watch) -> None:
    """The API server is asked for what is left, and the lease is kept until none is; then nothing is written."""
    set_mode(cluster=cluster, mode="enforce", actor=None, reason="go", override="east")
    run(cluster, watch)
    set_mode(cluster=cluster, mode="observe", actor=None, reason="stop")
    watch.actuator.sweeping = Swept(sentence="the API server did not answer in time")
    run(cluster, watch)
    assert (watch.actuator.did[-1], watch.leading) == ("sweep", True)
    watch.actuator.sweeping = Swept(freed=("n7",))
    run(cluster, watch)
    cluster.refresh_from_db()
    assert not cluster.untidy
    done = len(watch.actuator.did)
    run(cluster, watch)
    assert (len(watch.actuator.did), watch.leading) == (done, False)


def test_what_another_installation_holds_is_not_touched_on_leaving(cluster: Cluster, watch: Watch) -> None:
    """It leads by now, and has swept what is ours: our decision ends in our books alone."""
    run(cluster, watch)
    set_mode(cluster=cluster, mode="observe", actor=None, reason="stop")
    watch.leading, watch.rival = False, "another"
    done = len(watch.actuator.did)
    run(cluster, watch)
    assert Decision.objects.earliest("pk").ending == Decision.Ending.EXPIRED
    assert len(watch.actuator.did) == done


def test_on_leaving_nothing_ends_before_we_lead_again(cluster: Cluster, watch: Watch) -> None:
    """Nobody leads, as after a restart: the decision stays open until our lease allows us to free its node."""
    run(cluster, watch)
    set_mode(cluster=cluster, mode="observe", actor=None, reason="stop")
    watch.leading = False
    run(cluster, watch)
    assert Decision.objects.open().count() == 1
    watch.leading = True
    run(cluster, watch)
    assert not Decision.objects.open().exists()


def test_a_cluster_in_which_nothing_changes_is_not_stale() -> None:
    """A kind without news gives its sign of life when its watch ends, and that is soon enough."""
    settings = ReflectorSettings()
    assert settings.watch_s + settings.idle_margin_s < breakers.STALE_S


def test_a_picture_that_is_stale_or_incomplete_is_not_acted_on(cluster: Cluster, watch: Watch) -> None:
    """No decision from what may no longer be true; the page says why and since when, and it recovers by itself."""
    watch.watcher.staleness_s = 31.0
    run(cluster, watch)
    assert not Decision.objects.exists()
    status = ClusterStatus.objects.get()
    assert status.error == "The API server has gone silent."
    assert status.error_since is not None
    watch.watcher.staleness_s = 0.1
    run(cluster, watch)
    status.refresh_from_db()
    assert status.error == ""
    assert Decision.objects.exists()


def test_a_second_pass_at_the_same_time_does_nothing(cluster: Cluster, watch: Watch) -> None:
    """One pass at a time per cluster."""
    with watch.busy:
        run(cluster, watch)
    assert not ClusterStatus.objects.exists()


def test_a_cluster_that_another_worker_owns_is_left_alone(cluster: Cluster, watch: Watch) -> None:
    """Ownership is a row, taken only once the former owner is silent."""
    Cluster.objects.update(owner="another", owned_until=timezone.now() + timedelta(seconds=5))
    run(cluster, watch)
    assert not ClusterStatus.objects.exists()
    Cluster.objects.update(owned_until=timezone.now() - timedelta(seconds=1))
    run(cluster, watch)
    assert ClusterStatus.objects.exists()


def test_a_pass_keeps_what_pages_show(cluster: Cluster, watch: Watch) -> None:
    """Usage by queue, asks waiting, applications, capacity: pages read them without asking the cluster."""
    watch.put(ask("prod-0", queue="prod", unschedulable_ms=5))
    run(cluster, watch)
    status = ClusterStatus.objects.get()
    assert status.queues["root.test"] == {"used": {"cpu": 4000, "pods": 4}, "asks": 0, "oldest_ask_ms": None}
    assert status.queues["root.prod"]["oldest_ask_ms"] == 5
    assert status.queues["root"]["asks"] == 1
    assert status.applications["root.test"][0]["pods"] == 4
    assert status.capacity["cpu"] == 4000


def test_news_grows_only_when_a_page_would_look_different(cluster: Cluster, watch: Watch) -> None:
    """A quiet pass costs pages nothing."""
    watch.put(ask("prod-0", queue="prod", never_preempts=True))
    run(cluster, watch)
    first = ClusterStatus.objects.get().news
    run(cluster, watch)
    assert ClusterStatus.objects.get().news == first
    watch.put(pod("late", queue="test", node="n1"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().news == first + 1


def test_usage_is_sampled_every_five_seconds_into_one_row_an_hour(cluster: Cluster, watch: Watch) -> None:
    """Samples are appended; a resource that comes or goes is nothing where it was not there."""
    watch.put(ask("prod-0", queue="prod", never_preempts=True))
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        run(cluster, watch, times=2)
        clock.shift(6)
        watch.put(pod("gpu", queue="test", node="n1", resources={"gpu": 2}))
        run(cluster, watch)
    row = Usage.objects.get(queue="root.test")
    assert row.seconds == [0, 6]
    assert row.used == {"cpu": [4000, 5000], "pods": [4, 5], "gpu": [0, 2]}
    assert Pass.objects.filter(sampled=True).count() == 2


def test_priority_classes_by_which_the_scheduler_would_preempt_are_found(cluster: Cluster, watch: Watch) -> None:
    """Never is no rival; a class without it is."""
    never = [msgspec.structs.replace(one, never_preempts=True) for one in watch.state.pods.values()]
    watch.put(never, PriorityClass(name="hot"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().rivals == []
    watch.put(pod("eager", queue="test", node="n1", priority_class="hot"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().rivals == ["hot"]


def test_a_pass_stores_the_classes_with_who_has_them(cluster: Cluster, watch: Watch) -> None:
    """And why quotas can't be read; a class that changes is news to pages."""
    watch.put(PriorityClass(name="hot", value=5, version="1"))
    watch.put(pod("eager", queue="test", node="n1", priority_class="hot"))
    watch.put(ask("late", queue="prod", priority_class="hot"))
    watch.watcher.missing = {"ResourceQuota": "resourcequotas is forbidden"}
    run(cluster, watch)
    status = ClusterStatus.objects.get()
    assert unlisted(status.classes) == [PriorityClass(name="hot", value=5, version="1")]
    assert (status.class_use["hot"]["running"], status.class_use["hot"]["waiting"]) == (1, 1)
    assert {place["queue"] for place in status.class_use["hot"]["places"]} == {"root.test", "root.prod"}
    assert status.missing == {"ResourceQuota": "resourcequotas is forbidden"}
    run(cluster, watch, times=2)
    news = ClusterStatus.objects.get().news
    watch.put(PriorityClass(name="hot", value=5, version="2", description="new"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().news == news + 1


def test_a_class_that_was_made_anew_needs_no_restart_of_the_pods_that_run(cluster: Cluster, watch: Watch) -> None:
    """They keep their policy for good, and have no use for it; a pod that waits is still preempted for."""
    never = [msgspec.structs.replace(one, never_preempts=True) for one in watch.state.pods.values()]
    anew = PriorityClass(name="hot", never_preempts=True)
    watch.put(never, anew, pod("old", queue="test", node="n1", priority_class="hot"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().rivals == []
    watch.put(ask("older", queue="test", priority_class="hot"))
    run(cluster, watch)
    assert ClusterStatus.objects.get().rivals == ["hot"]


def test_a_policy_that_is_not_there_yet_is_told_on_the_page(watch: Watch) -> None:
    """A revision of another policy decides nothing and says so."""
    cluster = add_cluster(tree({"prod": queue("4")}))
    cluster.hierarchy.revisions.update(policy="cohort")
    run(cluster, watch)
    assert ClusterStatus.objects.get().error == "policy cohort: not yet."


def test_every_due_cluster_is_sent_once_per_interval(cluster: Cluster) -> None:
    """Two beats at the same moment send one pass."""
    now = timezone.now()
    assert passes.due_clusters(now) == [cluster.pk]
    assert passes.due_clusters(now) == []
    assert passes.due_clusters(now + timedelta(seconds=1)) == [cluster.pk]


def test_after_three_days_asleep_one_pass_is_due_and_not_a_quarter_of_a_million(cluster: Cluster) -> None:
    """What was missed is not caught up with."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        passes.due_clusters(timezone.now())
        clock.shift(timedelta(days=3))
        assert [passes.due_clusters(timezone.now()) for _ in range(3)] == [[cluster.pk], [], []]


def test_a_clock_that_was_set_back_holds_up_no_pass(cluster: Cluster) -> None:
    """A turn an hour ahead is from before: the next pass does not wait for it."""
    now = timezone.now()
    Cluster.objects.update(next_pass_at=now + timedelta(hours=1))
    assert passes.due_clusters(now) == [cluster.pk]


def test_leaving_enforce_in_the_middle_stops_before_the_next_eviction(watch: Watch) -> None:
    """Flipped after the first of two evictions, the second is not sent."""
    cluster = add_cluster()
    watch.put(ask("prod-0", queue="prod", cpu=2))
    evict = watch.actuator.evict

    def leaving(victim: object, *, dry_run: bool = False, again: bool = False) -> object:
        if not dry_run:
            Cluster.objects.update(mode="advise")
        return evict(victim, dry_run=dry_run)

    watch.actuator.evict = leaving
    run(cluster, watch, times=2)
    assert len(watch.actuator.evicted) == 1


def test_the_audit_of_a_row_is_of_the_same_figures_as_its_document(watch: Watch) -> None:
    """Decided again alike while usage moves on, a row shows no sums of long ago beside figures of now."""
    cluster = add_cluster(mode="observe")
    run(cluster, watch)
    before = preemption().laws
    watch.put(node("n2", 1), pod("test-4", queue="test", node="n2", created_ms=-1))
    run(cluster, watch)
    row = preemption()
    assert row.count == 2
    assert row.laws != before
    [guarantee] = [check for check in row.laws if check["law"] == Law.GUARANTEE]
    assert {line["start"] for line in guarantee["sums"] if line["subject"] == "root.test"} == {5000}


def test_a_pod_with_an_endless_owner_stops_no_pass(cluster: Cluster, watch: Watch) -> None:
    """Kubernetes does not limit the name of an owner; PostgreSQL refuses what is longer than its column."""
    endless = "Job/" + "x" * 5000
    renamed = [msgspec.structs.replace(one, application_label="") for one in watch.state.pods.values()]
    watch.put([msgspec.structs.replace(one, controller=f"{endless}{one.name[:4]}") for one in renamed])
    run(cluster, watch)
    row = preemption()
    assert len(row.ask_application) == 300
    assert {len(victim.application) for victim in row.victims.all()} == {300}


def test_what_was_preempted_is_kept_for_two_years_and_what_waited_for_a_week(watch: Watch) -> None:
    """In observe too, where a preemption is only shown."""
    cluster = add_cluster(mode="observe")
    watch.put(ask("prod-1", queue="prod", never_preempts=True))
    run(cluster, watch)
    month, years = timezone.now() - timedelta(days=30), timezone.now() - timedelta(days=800)
    Decision.objects.update(last_seen=month)
    tasks.prune()
    assert preemption() == Decision.objects.get()
    Decision.objects.update(last_seen=years)
    tasks.prune()
    assert not Decision.objects.exists()


def test_a_decision_that_is_held_takes_nothing_from_the_asks_after_it(cluster: Cluster, watch: Watch) -> None:
    """One ask's disruption budget does not starve its neighbours: the guarantee is theirs until something is done."""
    budget = DisruptionBudget(
        namespace="ns", name="keep", allowed=0, expressions=(Requirement("tier", "In", ("kept",)),)
    )
    kept = pod("kept", queue="test", node="n2", cpu=4, labels={"tier": "kept"})
    watch.put(
        node("n2", 4),
        kept,
        budget,
        ask("prod-0", queue="prod", cpu=4, unschedulable_ms=1),
        ask("prod-1", queue="prod", unschedulable_ms=2),
    )
    watch.put([pod(f"test-{number}", queue="test", node="n1", priority=999) for number in range(3)])
    run(cluster, watch)
    first, second = Decision.objects.filter(outcome="preempt").order_by("ask_name")
    assert (first.hold, second.hold) == ("disruption-budget", "")
    assert second.state == Decision.State.WAITING


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


def test_an_ask_that_is_evicted_for_in_vain_again_and_again_waits_longer_each_time(
    cluster: Cluster, watch: Watch
) -> None:
    """Half a minute, a minute, two: an ask that can't be served adds few rows."""
    watch.actuator.reserving = Result(outcome=Outcome.TAKEN)
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        for _ in range(10):
            run(cluster, watch)
            clock.shift(31)
    assert Decision.objects.filter(ending="blocked").count() == 4  # at 0, 31, 93 and 217 s


def test_an_ask_that_wavers_between_outcomes_has_a_row_for_each_and_no_more(cluster: Cluster, watch: Watch) -> None:
    """Room that comes and goes every second does not fill the history."""
    stuck = ask("prod-0", queue="prod", never_preempts=True)
    for _ in range(5):
        watch.put(stuck)
        run(cluster, watch)
        watch.put(ask("prod-0", queue="prod", never_preempts=True, priority=5), node("n2", 4))
        run(cluster, watch)
        del watch.state.nodes["n2"]
    rows = Decision.objects.order_by("pk")
    assert [(row.reason, row.count) for row in rows] == [("preemption-policy-never", 5), ("fits", 5)]
    assert rows[1].last_seen > rows[0].last_seen
