"""What others evicted becomes a decision: once, whole, followed to its end, and never one of our own."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engine.model.objects import Pod, Preempted
from engine.observation.evictions import NotReplayedReason, decode
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.ledger.models import LedgerEntry
from scheduler_admin.worker.passes import run_pass
from scheduler_admin.worker.recorder import observe
from tests.builders import ask, node, pod, queue, tree
from tests.decisions.plain_latest import kept_last, plain_last
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"tenant-1": queue(fence=True), "tenant-1.a": queue(), "b": queue("2"), "c": queue()})


def now_ms(seconds_ago: float = 0) -> int:
    return int((datetime.now(UTC) - timedelta(seconds=seconds_ago)).timestamp() * 1000)


def event(victim: str, *, ago: float = 1, ask: str = "web", **told: Any) -> Preempted:
    """kube-scheduler's word that a pod went for another."""
    about = {"ask_uid": f"uid-{ask}", "ask_namespace": "ns", "ask_name": ask}
    named = {"node": "n1", **about, **told}
    return Preempted(uid=f"uid-{victim}", namespace="ns", name=victim, at_ms=now_ms(ago), **named)


def going(name: str, *, reason: str = "PreemptionByScheduler", ago: float = 1, **settings: Any) -> Pod:
    """A pod that was told to go."""
    told = {"terminating": True, "disruption": reason, "disrupted_ms": now_ms(ago)}
    return pod(name, node="n1", **told | settings)


def waited(watch: Watch) -> Watch:
    """The same, with conditions that have waited long enough for an Event."""
    for one in [one for one in watch.state.pods.values() if one.disruption]:
        watch.put(msgspec.structs.replace(one, disrupted_ms=now_ms(5)))
    return watch


@pytest.fixture
def cluster(db: None) -> Cluster:
    """Somebody's cluster, only observed."""
    return add_cluster(TREE, mode="observe")


@pytest.fixture
def watch() -> Watch:
    """kube-scheduler has just preempted two pods of b for web of tenant-1."""
    web = ask("web", queue="tenant-1.a", cpu=2, priority=1000, priority_class="high", nominated_node="n1")
    victims = [going("b-0", queue="b", app="batch"), going("b-1", queue="b", app="batch", priority=10)]
    return Watch(node("n1", 4), pod("b-2", queue="b", node="n1"), victims, web, event("b-0"), event("b-1"))


def observed() -> Decision:
    """The one decision that is not the engine's."""
    return Decision.objects.exclude(source="engine").get()


def booked() -> dict[str, int]:
    """The pods that the ledger has, by the queue that gained."""
    return dict(LedgerEntry.objects.values_list("gaining_queue", "pods"))


def test_a_preemption_by_kube_scheduler_is_a_decision(cluster: Cluster, watch: Watch):
    """Ask, node and victims with queue, application, priority and requests."""
    run_pass(cluster=cluster, watch=watch)
    row = observed()
    assert (row.source, row.outcome, row.reason, row.node) == ("kube-scheduler", "preempt", "higher-priority", "n1")
    assert (row.ask_name, row.ask_queue, row.ask_priority, row.ask_priority_class, row.state) == (
        "web",
        "root.tenant-1.a",
        1000,
        "high",
        "waiting",
    )
    assert [
        (one.name, one.queue, one.application, one.priority, one.requests["cpu"], one.state)
        for one in row.victims.all()
    ] == [("b-0", "root.b", "batch", 0, 1000, "evicted"), ("b-1", "root.b", "batch", 10, 1000, "evicted")]


def test_the_rules_of_the_tree_that_it_broke_are_kept(cluster: Cluster, watch: Watch):
    """Out of tenant-1's fence, and b is left with one core of two."""
    run_pass(cluster=cluster, watch=watch)
    row = observed()
    assert row.detail == "across-fence below-guarantee"
    assert [each.flag.value for each in decode(row.document).victims[0].flags] == ["across-fence", "below-guarantee"]


def test_what_the_policy_answers_is_stored_with_it(cluster: Cluster):
    """Worked out once, from what the worker has followed: later passes and pages find it with the row."""
    running = [pod(name, queue="b", node="n1") for name in ("b-0", "b-1")]
    followed = Watch(node("n1", 2), running, ask("web", queue="tenant-1.a", cpu=2, priority=1000))
    run_pass(cluster=cluster, watch=followed)
    followed.put(going("b-0", queue="b"), going("b-1", queue="b"), event("b-0"), event("b-1"))
    run_pass(cluster=cluster, watch=followed)
    told = decode(observed().document).hindsight
    assert told is not None
    assert (told.decision.node, sorted(one.pod.name for one in told.decision.victims)) == ("n1", ["b-0", "b-1"])
    followed.state.changes.clear()
    followed.gone("b-0", "b-1")
    run_pass(cluster=cluster, watch=followed)
    assert decode(observed().document).hindsight == told


def test_what_was_not_followed_is_not_decided_again(cluster: Cluster, watch: Watch):
    """The worker has just begun."""
    watch.state.changes.clear()
    run_pass(cluster=cluster, watch=watch)
    assert decode(observed().document).untold is NotReplayedReason.NOT_SEEN


def test_it_is_recorded_once_however_often_it_is_seen(cluster: Cluster, watch: Watch):
    """Passes, a restarted worker that knows nothing, Events that come again."""
    for _ in range(3):
        run_pass(cluster=cluster, watch=watch)
    watch.settled.clear()
    watch.state.preempted["again"] = event("b-0", ago=0)
    run_pass(cluster=cluster, watch=watch)
    assert Victim.objects.count() == 2
    assert observed().pk


def test_news_of_a_further_victim_joins_the_decision(cluster: Cluster, watch: Watch):
    """Its Event came a pass later."""
    late = watch.state.preempted.pop("event-uid-b-1")
    watch.state.pods.pop("uid-b-1")
    run_pass(cluster=cluster, watch=watch)
    watch.put(late, going("b-1", queue="b"))
    run_pass(cluster=cluster, watch=watch)
    assert [one.name for one in observed().victims.all()] == ["b-0", "b-1"]
    assert len(decode(observed().document).victims) == 2


def test_an_event_that_comes_late_tells_for_whom(cluster: Cluster, watch: Watch):
    """Its condition alone was recorded, and the victims have gone since: the same decision, now with its ask."""
    late = [watch.state.preempted.pop(f"event-uid-b-{n}") for n in range(2)]
    watch.put(ask("web", queue="tenant-1.a", cpu=2, priority=1000))  # not nominated any more
    run_pass(cluster=cluster, watch=waited(watch))
    first = observed()
    assert (first.ask_name, first.victims.count()) == ("", 2)
    watch.gone("b-0", "b-1")
    run_pass(cluster=cluster, watch=watch)
    assert observed().state == "closed"
    assert booked() == {"": 2}
    watch.put(late)
    run_pass(cluster=cluster, watch=watch)
    row = observed()
    assert (row.pk, row.ask_name, row.ask_queue, row.ask_priority, row.state) == (
        first.pk, "web", "root.tenant-1.a", 1000, "waiting",
    )  # fmt: skip
    assert "across-fence" in row.detail
    assert booked() == {"root.tenant-1.a": 2}
    watch.bound("web", "n1")
    run_pass(cluster=cluster, watch=watch)
    assert observed().ending == "bound"
    assert [step.kind for step in row.steps.all()].count("closed") == 1


def test_an_event_that_comes_late_puts_a_supposed_ask_right(cluster: Cluster, watch: Watch):
    """The only one that was nominated was not it."""
    late = [watch.state.preempted.pop(f"event-uid-b-{n}") for n in range(2)]
    other = ask("other", queue="c", priority=20, nominated_node="n1")
    web = watch.state.pods.pop("uid-web")
    watch.put(other)
    run_pass(cluster=cluster, watch=waited(watch))
    assert (observed().ask_name, decode(observed().document).ask_inferred) == ("other", True)
    watch.put(web, late)
    for _ in range(2):
        run_pass(cluster=cluster, watch=watch)
    row = observed()
    assert (row.ask_name, decode(row.document).certain, row.victims.count()) == ("web", True, 2)
    assert kept_last() == plain_last()


def test_what_was_taken_for_one_decision_and_was_two_is_parted(cluster: Cluster, watch: Watch):
    """Two asks on one node within seconds, and their Events late: each ends up with its own victims."""
    late = [event("b-0"), event("b-1", ask="app")]
    watch.state.preempted.clear()
    watch.put(ask("app", queue="c", priority=500, nominated_node="n1"), going("b-9", queue="b"))
    run_pass(cluster=cluster, watch=waited(watch))
    assert observed().victims.count() == 3
    watch.gone("b-1")
    run_pass(cluster=cluster, watch=watch)
    for one in late:
        watch.put(one)
        run_pass(cluster=cluster, watch=watch)
    rows = Decision.objects.exclude(source="engine")
    held = {row.ask_name: [one.name for one in row.victims.all()] for row in rows}
    assert held == {"web": ["b-0"], "app": ["b-1"], "": ["b-9"]}
    for row in rows:
        assert [one.pod.name for one in decode(row.document).victims] == held[row.ask_name]
    assert kept_last() == plain_last()
    assert booked() == {"root.c": 1}
    app = rows.get(ask_name="app")
    assert [step.pod for step in app.steps.filter(kind="exited")] == ["ns/b-1"]
    assert Victim.objects.get(name="b-1").gone_at is not None


def test_the_last_victim_to_be_put_right_leaves_no_empty_decision(cluster: Cluster, watch: Watch):
    """One victim's Event came in time, the other's late: they are of one decision."""
    late = watch.state.preempted.pop("event-uid-b-1")
    watch.put(ask("web", queue="tenant-1.a", cpu=2, priority=1000))
    run_pass(cluster=cluster, watch=waited(watch))
    assert Decision.objects.exclude(source="engine").count() == 2
    watch.put(late)
    run_pass(cluster=cluster, watch=watch)
    assert [one.name for one in observed().victims.all()] == ["b-0", "b-1"]


def test_an_event_of_an_hour_ago_that_goes_changes_nothing(cluster: Cluster, watch: Watch):
    """A second Event on the same victim was hidden by the first; it was for somebody else, and too late."""
    run_pass(cluster=cluster, watch=watch)
    watch.state.preempted["event-uid-b-0"] = event("b-0", ago=0, ask="late")
    watch.settled.clear()
    for _ in range(2):
        run_pass(cluster=cluster, watch=watch)
    assert (observed().ask_name, observed().victims.count()) == ("web", 2)


def test_where_events_are_forbidden_the_nomination_tells_for_whom(cluster: Cluster, watch: Watch):
    """At once: it may be gone a second later."""
    watch.state.preempted.clear()
    watch.watcher.missing = {"Event": "events is forbidden"}
    run_pass(cluster=cluster, watch=watch)
    assert (observed().ask_name, decode(observed().document).ask_inferred) == ("web", True)


def test_many_at_once_are_spread_over_passes(cluster: Cluster, monkeypatch: pytest.MonkeyPatch):
    """Each with exactly its victims, whatever the bound cuts apart; and the work of a pass does not grow with them."""
    monkeypatch.setattr(observe, "MOST_AT_ONCE", 7)
    events = [event(f"v{n}", ask=f"a{n // 4}", ago=n * 0.001) for n in range(40)]
    watch = Watch(node("n1", 4), events)
    for _ in range(6):
        run_pass(cluster=cluster, watch=watch)
    rows = Decision.objects.exclude(source="engine").prefetch_related("victims")
    held = {row.ask_name: sorted(one.name for one in row.victims.all()) for row in rows}
    assert held == {f"a{n}": sorted(f"v{4 * n + m}" for m in range(4)) for n in range(10)}
    run_pass(cluster=cluster, watch=watch)
    assert watch.settled == {(f"uid-v{n}", f"uid-a{n // 4}") for n in range(40)}


def test_a_pass_asks_the_database_as_often_for_many_as_for_few(cluster: Cluster):
    """Of what is new, and of what is followed."""
    counts = []
    for start, count in ((0, 2), (100, 200)):
        watch = Watch(node("n1", 4), [event(f"v{n}", ask=f"a{n}") for n in range(start, start + count)])
        watch.put([going(f"v{n}", queue="b") for n in range(start, start + count)])
        with CaptureQueriesContext(connection) as recording:
            run_pass(cluster=cluster, watch=watch)
        with CaptureQueriesContext(connection) as following:
            run_pass(cluster=cluster, watch=watch)
        counts.append([sum("history_victim" in one["sql"] for one in each) for each in (recording, following)])
    assert counts[1][0] <= counts[0][0] + 10  # inserted in pieces
    assert counts[1][1] == counts[0][1]


@pytest.mark.parametrize("first", [True, False])
def test_an_ask_that_is_seen_only_once_is_told_with_all_that_was_known(cluster: Cluster, watch: Watch, *, first: bool):
    """Before or after a further victim's Event: one decision, in which the ask keeps its numbers."""
    late, web = watch.state.preempted.pop("event-uid-b-1"), watch.state.pods["uid-web"]
    watch.state.pods.pop("uid-b-1")
    if not first:
        del watch.state.pods["uid-web"]
    run_pass(cluster=cluster, watch=watch)
    watch.put(late)
    watch.state.pods.pop("uid-web", None)
    if not first:
        watch.put(web)
    run_pass(cluster=cluster, watch=watch)
    seen = decode(observed().document)
    assert (len(seen.victims), seen.ask and seen.ask.priority, seen.ask_known) == (2, 1000, True)
    assert (observed().ask_name, observed().ask_priority) == ("web", 1000)


def test_it_is_followed_to_its_end(cluster: Cluster, watch: Watch):
    """Victims exit, the ask is bound where it was to be: closed, with every step."""
    run_pass(cluster=cluster, watch=watch)
    watch.gone("b-0", "b-1")
    run_pass(cluster=cluster, watch=watch)
    watch.bound("web", "n1")
    run_pass(cluster=cluster, watch=watch)
    row = observed()
    assert (row.state, row.ending) == ("closed", "bound")
    assert row.closed_at is not None
    assert {one.state for one in row.victims.all()} == {"exited"}
    assert [step.kind for step in Step.objects.filter(decision=row)][-3:] == ["exited", "exited", "closed"]


@pytest.mark.parametrize(("node_name", "ending"), [("n2", "bound-elsewhere"), (None, "pod-gone")])
def test_an_ask_that_ran_elsewhere_or_went_closes_it(
    cluster: Cluster, watch: Watch, node_name: str | None, ending: str
):
    """What it really came to, in the words of every decision."""
    run_pass(cluster=cluster, watch=watch)
    if node_name:
        watch.bound("web", node_name)
    else:
        del watch.state.pods["uid-web"]
    run_pass(cluster=cluster, watch=watch)
    assert observed().ending == ending


@pytest.mark.parametrize(("left", "ending"), [(False, "capacity-taken"), (True, "timed-out")])
def test_an_ask_that_gets_nothing_in_time_closes_it(cluster: Cluster, watch: Watch, *, left: bool, ending: str):
    """Others took the room, or not all victims went: as with decisions of ours."""
    run_pass(cluster=cluster, watch=watch)
    if not left:
        watch.gone("b-0", "b-1")
    Decision.objects.exclude(source="engine").update(deadline=timezone.now() - timedelta(seconds=1))
    run_pass(cluster=cluster, watch=watch)
    assert (observed().state, observed().ending) == ("closed", ending)


def test_who_took_the_room_is_kept_as_far_as_it_was_seen(cluster: Cluster, watch: Watch):
    """The most important ones that came there since; who was there before did not."""
    run_pass(cluster=cluster, watch=watch)
    watch.gone("b-0", "b-1")
    came = {"node": "n1", "queue": "c"}
    watch.put(pod("vip", priority=2000, started_ms=now_ms(), **came), pod("late", started_ms=now_ms(), **came))
    watch.put(pod("old", started_ms=now_ms(60), **came))
    Decision.objects.exclude(source="engine").update(deadline=timezone.now() - timedelta(seconds=1))
    run_pass(cluster=cluster, watch=watch)
    assert observed().steps.get(kind="closed").note == "vip (2000), late (0)"


def test_victims_that_go_without_anybody_asking_close_with_the_last(cluster: Cluster):
    """A drain: three evictions through the API on one node are one decision, without a named ask."""
    watch = Watch(node("n1", 4), [going(f"c-{n}", queue="c", reason="EvictionByEvictionAPI") for n in range(3)])
    run_pass(cluster=cluster, watch=watch)
    assert (observed().source, observed().ask_name, observed().victims.count()) == ("api-eviction", "", 3)
    watch.gone("c-0", "c-1", "c-2")
    run_pass(cluster=cluster, watch=watch)
    assert (observed().state, observed().ending) == ("closed", "")


def test_what_happened_before_the_cluster_was_watched_is_told_as_far_as_it_is_known(cluster: Cluster):
    """Half an hour ago: names and the time; no queue, no priority, no end is made up."""
    run_pass(cluster=cluster, watch=Watch(node("n1", 4), event("old", ago=1800)))
    row, victim = observed(), Victim.objects.get()
    assert (row.ask_name, row.ask_priority, row.state, row.closed_at) == ("web", None, "closed", None)
    assert (victim.name, victim.priority, victim.queue, victim.state, victim.gone_at) == (
        "old",
        None,
        "",
        "exited",
        None,
    )
    assert timezone.now() - row.first_seen > timedelta(minutes=29)


def test_what_happened_before_the_tree_was_published_was_under_none(cluster: Cluster):
    """It is no revision's doing."""
    run_pass(cluster=cluster, watch=Watch(node("n1", 4), event("b-9", ago=600)))
    assert observed().revision is None


@pytest.mark.parametrize("told", [{"ask_kind": "PodGroup", "ask_name": "gang"}, {"ask_namespace": "", "ask_name": ""}])
def test_an_ask_that_is_no_pod_with_a_name_is_in_the_document_alone(cluster: Cluster, told: dict[str, str]):
    """A group, or a uid: there is no page of such a pod to lead to. It ends with its victims."""
    watch = Watch(node("n1", 4), going("b-0", queue="b"), event("b-0", **told))
    run_pass(cluster=cluster, watch=watch)
    assert (observed().ask_name, observed().ask_uid, observed().state) == ("", "uid-web", "waiting")
    watch.gone("b-0")
    run_pass(cluster=cluster, watch=watch)
    assert (observed().state, observed().ending) == ("closed", "")


def test_what_goes_for_the_resize_of_a_running_pod_ends_with_its_victims(cluster: Cluster):
    """That the preemptor has a node tells nothing: it had it before."""
    web = pod("web", queue="c", node="n1", started_ms=now_ms(60), resize_deferred=True)
    watch = Watch(node("n1", 4), going("b-0", queue="b"), web, event("b-0"))
    run_pass(cluster=cluster, watch=watch)
    seen = decode(observed().document)
    assert (seen.for_resize, seen.untold) == (True, NotReplayedReason.RESIZE)
    assert (observed().state, observed().ask_name) == ("waiting", "web")
    watch.put(msgspec.structs.replace(web, resize_deferred=False))
    watch.gone("b-0")
    run_pass(cluster=cluster, watch=watch)
    assert (observed().state, observed().ending) == ("closed", "")


def test_when_an_old_ask_was_bound_is_what_its_kubelet_says(cluster: Cluster):
    """Not when we learned of it."""
    web = pod("web", queue="c", node="n1", started_ms=now_ms(1700))
    run_pass(cluster=cluster, watch=Watch(node("n1", 4), web, event("old", ago=1800)))
    row = observed()
    assert (row.ending, row.closed_at and round((row.closed_at - row.first_seen).total_seconds())) == ("bound", 100)


@pytest.mark.parametrize("state", ["chosen", "evicted"])
def test_an_eviction_of_our_own_is_not_recorded_again(cluster: Cluster, state: str):
    """Sent, accepted, or sent before we died: its condition says EvictionByEvictionAPI as any other's."""
    mine = Decision.objects.create(
        cluster=cluster, policy="fence", outcome="preempt", reason="below-guarantee", node="n1", document="{}",
        ask_uid="uid-x", ask_name="x", ask_namespace="ns", state="closed", ending="timed-out",
        first_seen=timezone.now(), last_seen=timezone.now(),
    )  # fmt: skip
    Victim.objects.create(
        decision=mine, cluster=cluster, position=0, uid="uid-b-0", namespace="ns", name="b-0", queue="root.b",
        node="n1", reason="over-guarantee", state=state, attempts=1,
    )  # fmt: skip
    run_pass(cluster=cluster, watch=Watch(node("n1", 4), going("b-0", queue="b", reason="EvictionByEvictionAPI")))
    assert Decision.objects.exclude(source="engine").count() == 0


def test_the_engine_evicts_and_nothing_is_recorded_beside_it(db: None):
    """A whole preemption in enforce, the victims with the condition that the Eviction API gives them."""
    cluster = add_cluster()
    victims = [pod(f"test-{number}", queue="test", node="n1", app="test") for number in range(4)]
    watch = Watch(node("n1", 4), victims, ask("prod-0", queue="prod"))
    run_pass(cluster=cluster, watch=watch)
    for uid, one in list(watch.state.pods.items()):
        if one.terminating:
            told = {"disruption": "EvictionByEvictionAPI", "disrupted_ms": now_ms()}
            watch.state.pods[uid] = msgspec.structs.replace(one, **told)
    run_pass(cluster=cluster, watch=watch)
    assert set(Decision.objects.values_list("source", flat=True)) == {"engine"}


def test_what_the_engine_only_would_have_taken_is_recorded_when_others_take_it(cluster: Cluster):
    """In advise our decision is on paper; kube-scheduler's really happened."""
    paper = Decision.objects.create(
        cluster=cluster, policy="fence", outcome="preempt", reason="below-guarantee", node="n1", document="{}",
        ask_uid="uid-x", ask_name="x", ask_namespace="ns", first_seen=timezone.now(), last_seen=timezone.now(),
    )  # fmt: skip
    Victim.objects.create(
        decision=paper, cluster=cluster, position=0, uid="uid-b-0", namespace="ns", name="b-0", queue="root.b",
        node="n1", reason="x",
    )  # fmt: skip
    run_pass(cluster=cluster, watch=Watch(node("n1", 4), going("b-0", queue="b"), event("b-0")))
    assert observed().victims.get().uid == "uid-b-0"


def test_what_a_budget_kept_from_the_engine_is_recorded_when_others_take_it_later(cluster: Cluster):
    """Asked for is not evicted: the API server held it, and the decision has ended since."""
    ended = Decision.objects.create(
        cluster=cluster, policy="fence", outcome="preempt", reason="below-guarantee", node="n1", document="{}",
        ask_uid="uid-x", ask_name="x", ask_namespace="ns", first_seen=timezone.now(), last_seen=timezone.now(),
        state="closed", ending="timed-out",
    )  # fmt: skip
    Victim.objects.create(
        decision=ended, cluster=cluster, position=0, uid="uid-b-0", namespace="ns", name="b-0", queue="root.b",
        node="n1", reason="x", state="spared", attempts=3, retry_at=timezone.now(),
    )  # fmt: skip
    run_pass(cluster=cluster, watch=Watch(node("n1", 4), going("b-0", queue="b"), event("b-0")))
    assert observed().victims.get().uid == "uid-b-0"


def test_nothing_is_done_to_the_cluster(cluster: Cluster, watch: Watch):
    """Decisions of others that wait for their ask are none of ours to carry out, or to end."""
    for _ in range(3):
        run_pass(cluster=cluster, watch=watch)
    assert watch.actuator.did == []
    assert observed().state == "waiting"


def test_why_events_can_not_be_read_is_on_the_status(cluster: Cluster, watch: Watch):
    """Passes go on without."""
    watch.watcher.missing = {"Event": "events is forbidden"}
    run_pass(cluster=cluster, watch=watch)
    status = ClusterStatus.objects.get()
    assert (status.error, status.missing) == ("", {"Event": "events is forbidden"})


def test_a_victim_with_an_endless_grace_stops_no_pass(cluster: Cluster):
    """Kubernetes takes any number of seconds; no calendar reaches that far."""
    run_pass(cluster=cluster, watch=Watch(node("n1", 4), going("b-0", queue="b", grace_s=2**63 - 1), event("b-0")))
    assert observed().deadline is not None
