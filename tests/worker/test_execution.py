"""A decision that was begun comes to a true end, whatever the cluster answers and wherever the worker dies."""

from datetime import timedelta

import msgspec
import pytest
import time_machine
from django.utils import timezone

from engine.cluster.acting.outcomes import (
    EvictionOutcome,
    EvictionResult,
    OperationOutcome,
    PodRef,
    ReservationMethod,
    ReservationTerms,
    Result,
)
from engine.model.objects import DisruptionBudget
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from tests.builders import ask, node, pod
from tests.worker.execution_scenes import Death, dying, first, run, victims_of
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def watch(watch: Watch) -> Watch:
    """Prod asks for two cores: two pods of Test have to go."""
    watch.put(ask("prod-0", queue="prod", cpu=2))
    return watch


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        (OperationOutcome.GONE, "superseded"),
        (OperationOutcome.BOUND, "superseded"),
        (OperationOutcome.TAKEN, "blocked"),
        (OperationOutcome.REFUSED, "blocked"),
    ],
)
def test_a_node_that_cant_be_reserved_ends_the_decision_before_any_eviction(
    answer: OperationOutcome, ending: str, cluster: Cluster, watch: Watch
) -> None:
    """No room is kept, so nobody is evicted."""
    watch.actuator.reserving = Result(outcome=answer, sentence="as it is")
    assert first(watch).ending == ending
    assert watch.actuator.evicted == []


def test_no_clear_answer_to_a_reservation_is_tried_again_by_the_next_pass(cluster: Cluster, watch: Watch) -> None:
    """The intent stays, and is carried on."""
    watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
    assert first(watch).state == Decision.State.PLANNED
    watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
    assert run(watch).state == Decision.State.WAITING


@pytest.mark.parametrize(
    ("answer", "ending"),
    [(EvictionOutcome.HELD, "blocked"), (EvictionOutcome.BLOCKED, "blocked"), (EvictionOutcome.GONE, "superseded")],
)
def test_a_set_that_the_server_would_not_let_go_whole_is_not_begun(
    answer: EvictionOutcome, ending: str, cluster: Cluster, watch: Watch
) -> None:
    """All or nothing: one bad answer to the dry run, and nobody goes."""
    for name in ("test-1", "test-2", "test-3"):
        watch.actuator.judging[name] = EvictionResult(outcome=answer, budget=answer is EvictionOutcome.HELD)
    row = first(watch)
    assert row.ending == ending
    assert watch.actuator.evicted == []
    assert "release n1" in watch.actuator.did
    assert {victim.state for victim in row.victims.all()} == {Victim.State.SPARED}


def test_a_budget_in_the_middle_waits_as_long_as_the_server_asks(cluster: Cluster, watch: Watch) -> None:
    """429 for the second of two: the decision waits, tries again when it may, and not before."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        for name in ("test-1", "test-2", "test-3"):
            watch.actuator.evicting[name] = EvictionResult(outcome=EvictionOutcome.HELD, retry_after_s=10)
        row = first(watch)
        tried = len(watch.actuator.evicted)
        assert row.state == Decision.State.EVICTING
        clock.shift(9)
        run(watch)
        assert len(watch.actuator.evicted) == tried
        watch.actuator.evicting.clear()
        clock.shift(2)
        assert run(watch).state == Decision.State.WAITING


def test_an_eviction_that_can_never_succeed_ends_the_decision_and_spares_the_rest(
    cluster: Cluster, watch: Watch
) -> None:
    """No blind retry."""
    for name in ("test-0", "test-1", "test-2", "test-3"):
        watch.actuator.evicting[name] = EvictionResult(outcome=EvictionOutcome.BLOCKED, sentence="two budgets")
    row = first(watch)
    assert row.ending == Decision.Ending.BLOCKED
    assert len(watch.actuator.evicted) == 1
    assert run(watch, times=3).hold == "cool-down"
    assert len(watch.actuator.evicted) == 1


def test_a_victim_that_left_by_itself_counts_as_gone(cluster: Cluster, watch: Watch) -> None:
    """404 or another UID: nothing is there to evict, the decision goes on."""
    for name in ("test-0", "test-1", "test-2", "test-3"):
        watch.actuator.evicting[name] = EvictionResult(outcome=EvictionOutcome.GONE)
    row = first(watch)
    assert {victim.state for victim in row.victims.all()} == {Victim.State.EXITED}
    assert row.state == Decision.State.WAITING


def test_a_cluster_that_changed_after_deciding_is_looked_at_again(cluster: Cluster, watch: Watch) -> None:
    """A victim that has meanwhile gone makes the decision void before anybody is evicted for it."""
    watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
    row = first(watch)
    watch.gone(victims_of(row)[0])
    watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
    run(watch)
    row.refresh_from_db()
    assert row.ending == Decision.Ending.SUPERSEDED
    assert {victim.state for victim in row.victims.all()} == {Victim.State.SPARED}


@pytest.mark.parametrize(("node", "ending"), [("n1", "bound"), ("n9", "bound-elsewhere")])
def test_where_the_ask_was_bound_is_told(node: str, ending: str, cluster: Cluster, watch: Watch) -> None:
    """Evicted in vain has a name of its own."""
    row = first(watch)
    watch.gone(*victims_of(row))
    watch.bound("prod-0", node)
    run(watch)
    row.refresh_from_db()
    assert row.ending == ending


@pytest.mark.parametrize("since", ["finished", "terminating", "gone"])
def test_an_ask_that_has_run_and_ended_since_the_last_look_had_its_room(
    since: str, cluster: Cluster, watch: Watch
) -> None:
    """Nobody was evicted in vain for it."""
    row = first(watch)
    watch.gone(*victims_of(row))
    watch.bound("prod-0", "n1")
    if since == "gone":
        watch.gone("prod-0")
    else:
        watch.put(msgspec.structs.replace(watch.state.pods["uid-prod-0"], **{since: True}))
    run(watch)
    row.refresh_from_db()
    assert row.ending == Decision.Ending.BOUND


def test_an_ask_that_goes_away_ends_its_decision(cluster: Cluster, watch: Watch) -> None:
    """Deleted while the victims exit: the node is released at once."""
    row = first(watch)
    watch.gone("prod-0")
    run(watch)
    row.refresh_from_db()
    assert row.ending == Decision.Ending.POD_GONE
    assert watch.actuator.did[-1] == "release n1"


@pytest.mark.parametrize(("exited", "ending"), [(False, "timed-out"), (True, "capacity-taken")])
def test_past_the_deadline_the_node_is_given_back(exited: bool, ending: str, cluster: Cluster, watch: Watch) -> None:
    """Grace period and margin are over: expired while victims are left, taken when they are gone and the room too."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        row = first(watch)
        if exited:
            watch.gone(*victims_of(row))
        clock.shift(timedelta(seconds=30 + cluster.bind_margin_s + 1))
        run(watch)
        row.refresh_from_db()
        assert row.ending == ending


def test_an_intent_that_cant_be_begun_is_given_up_in_time(cluster: Cluster, watch: Watch) -> None:
    """The API server never takes the reservation: it does not stand in its ask's way for ever."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
        row = first(watch)
        clock.shift(timedelta(seconds=cluster.bind_margin_s + 1))
        run(watch)
        row.refresh_from_db()
        assert row.ending == Decision.Ending.SUPERSEDED


def test_an_intent_is_begun_however_short_the_wait_for_its_ask_is(cluster: Cluster, watch: Watch) -> None:
    """A margin of nothing is about what comes after the evictions, not about how long they may take to begin."""
    Cluster.objects.update(bind_margin_s=0)
    assert first(watch).state == Decision.State.WAITING


def test_how_long_and_for_what_a_node_is_kept_is_told(cluster: Cluster, watch: Watch) -> None:
    """The deadline of the decision, its page, and how the room is held."""
    Cluster.objects.update(room_kept_by="nominate")
    row = first(watch)
    assert watch.actuator.terms == ReservationTerms(
        kept_by=ReservationMethod.NOMINATE,
        until_ms=int(row.deadline.timestamp() * 1000),
        decision=f"http://127.0.0.1:8000/clusters/east/decisions/{row.pk}/",
    )


def test_victims_and_ask_are_told_why_with_a_link(cluster: Cluster, watch: Watch) -> None:
    """Each victim by a condition and an Event, the ask by an Event: a sentence, and where to read on."""
    row = first(watch)
    names = victims_of(row)
    assert watch.actuator.marked == [(name, "OverGuarantee") for name in names]
    told = dict(watch.actuator.said)
    assert told["prod-0"].startswith(
        "prod-0 needed 2 cores on one node while prod was 4 cores below its guarantee, so pods of"
    )
    assert "until the victims’ grace periods and another 30 s are over" in told["prod-0"]
    assert all(told[name].startswith(f"{name} was evicted from n1 because prod was below its") for name in names)
    assert all(f"/pods/east/ns/{name}/" in told[name] for name in [*names, "prod-0"])


def test_an_eviction_whose_answer_was_lost_is_found_out_however_the_decision_ends(
    cluster: Cluster, watch: Watch
) -> None:
    """The connection broke after the server had taken it: the victim is told as evicted, not as spared."""
    real = watch.actuator.evict

    def losing(victim: object, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        result = real(victim, dry_run=dry_run, again=again)
        return result if dry_run else EvictionResult(outcome=EvictionOutcome.RETRY, sentence="broken")

    watch.actuator.evict = losing
    row = first(watch)
    assert {victim.state for victim in row.victims.all()} == {Victim.State.CHOSEN}
    watch.bound("prod-0", "n9")
    run(watch)
    row.refresh_from_db()
    assert row.ending == Decision.Ending.BOUND_ELSEWHERE
    assert {victim.state for victim in row.victims.all()} == {Victim.State.EVICTED}
    assert len(watch.actuator.evicted) == 2


@pytest.mark.parametrize("call", range(5))
@pytest.mark.parametrize("after", [False, True])
def test_a_worker_that_dies_anywhere_is_continued_without_a_second_eviction(
    call: int, after: bool, cluster: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before or after each of its five calls, the decision still ends, each victim evicted once."""
    accepted = dying(watch, monkeypatch, call=call, after=after)
    with pytest.raises(Death):
        run(watch)
    run(watch, times=2)
    row = Decision.objects.get(outcome="preempt")
    assert row.state == Decision.State.WAITING
    assert sorted(accepted) == sorted(victims_of(row))
    watch.gone(*victims_of(row))
    watch.bound("prod-0", "n1")
    assert run(watch).ending == Decision.Ending.BOUND


def test_two_decisions_never_share_a_node(cluster: Cluster, watch: Watch) -> None:
    """While a node is kept for one ask, no other ask is given it."""
    watch.put(ask("prod-1", queue="prod"))
    run(watch, times=2)
    assert Decision.objects.filter(outcome="preempt").count() == 1


def test_an_ask_whose_decision_failed_cools_down(cluster: Cluster, watch: Watch) -> None:
    """After a decision that brought it nothing, thirty seconds pass before anything is evicted for it again."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        watch.actuator.reserving = Result(outcome=OperationOutcome.TAKEN)
        run(watch)
        watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
        clock.shift(29)
        assert run(watch).hold == "cool-down"
        clock.shift(2)
        assert run(watch).state == Decision.State.WAITING


def test_evicted_at_is_the_moment_of_the_eviction(cluster: Cluster, watch: Watch) -> None:
    """What the page tells of the timing is what happened."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False):
        row = first(watch)
        assert {victim.evicted_at for victim in row.victims.all()} == {timezone.now()}


def test_a_pod_that_took_a_victims_name_is_untouched(cluster: Cluster, watch: Watch) -> None:
    """A victim is its UID: one that was recreated under the same name does not stand for it."""
    watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
    row = first(watch)
    name = victims_of(row)[0]
    again = msgspec.structs.replace(watch.state.pods[f"uid-{name}"], uid="another", terminating=False)
    watch.gone(name)
    watch.put(again)
    watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
    run(watch)
    row.refresh_from_db()
    assert row.ending == Decision.Ending.SUPERSEDED


def test_nothing_is_sent_for_a_victim_that_has_gone_before_its_turn(cluster: Cluster, watch: Watch) -> None:
    """The API server charges a disruption budget first, and finds out after that another pod has the name."""
    real = watch.actuator.evict

    def once(victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        watch.leading = dry_run
        return real(victim, dry_run=dry_run, again=again)

    watch.actuator.evict = once
    row = first(watch)
    sent, left = victims_of(row)
    assert watch.actuator.evicted == [sent]
    again = msgspec.structs.replace(watch.state.pods[f"uid-{left}"], uid="another")
    watch.gone(left)
    watch.put(again)
    watch.leading = True
    assert run(watch) == row
    assert watch.actuator.evicted == [sent]
    assert row.victims.get(name=left).state == Victim.State.EXITED


def test_what_an_open_decision_still_has_to_take_is_promised_to_nobody_else(cluster: Cluster, watch: Watch) -> None:
    """Held back by a budget its victims run on; another ask must not take their queue below its guarantee."""
    for name in ("test-0", "test-1", "test-2", "test-3"):
        watch.actuator.evicting[name] = EvictionResult(outcome=EvictionOutcome.HELD, retry_after_s=20)
    row = first(watch)
    more = [pod(f"test-{number}", queue="test", node="n2", app="test") for number in (4, 5)]
    gone = sorted({f"test-{number}" for number in range(4)} - set(victims_of(row)))
    watch.gone(*gone)
    watch.put(node("n2", 2), more, ask("prod-1", queue="prod", cpu=2))
    assert run(watch) == row
    assert Decision.objects.get(ask_name="prod-1").outcome == "no-candidate"


def test_past_the_deadline_nobody_is_evicted_any_more(cluster: Cluster, watch: Watch) -> None:
    """A worker that was away for long ends what it finds; the rest of its victims would go in vain."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        for name in ("test-0", "test-1", "test-2", "test-3"):
            watch.actuator.evicting[name] = EvictionResult(outcome=EvictionOutcome.RETRY)
        row = first(watch)
        tried = list(watch.actuator.evicted)
        clock.shift(timedelta(days=3))
        run(watch)
        row.refresh_from_db()
        assert row.ending == Decision.Ending.TIMED_OUT
        assert watch.actuator.evicted == tried


def test_a_node_that_cant_be_given_back_on_leaving_is_tried_again(cluster: Cluster, watch: Watch) -> None:
    """Where we act no longer nobody sweeps: the decision stays open until its taint is off."""
    row = first(watch)
    Cluster.objects.update(mode="observe")
    watch.actuator.releasing = Result(outcome=OperationOutcome.RETRY)
    run(watch)
    row.refresh_from_db()
    assert row.state == Decision.State.WAITING
    watch.actuator.releasing = Result(outcome=OperationOutcome.DONE)
    run(watch)
    row.refresh_from_db()
    assert row.ending == Decision.Ending.TIMED_OUT


def test_victims_that_went_are_told_as_gone_however_the_decision_ends(cluster: Cluster, watch: Watch) -> None:
    """The ask found room elsewhere while the second of two was held back: the first is gone all the same."""
    watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
    row = first(watch)
    taken, held = victims_of(row)
    watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
    watch.actuator.evicting[held] = EvictionResult(outcome=EvictionOutcome.HELD)
    run(watch)
    watch.gone(taken)
    watch.bound("prod-0", "n9")
    run(watch)
    row.refresh_from_db()
    assert row.ending == Decision.Ending.BOUND_ELSEWHERE
    assert sorted(row.victims.values_list("state", flat=True)) == [Victim.State.EXITED, Victim.State.SPARED]


def test_a_victim_that_outlives_its_decision_is_followed_until_it_has_gone(cluster: Cluster, watch: Watch) -> None:
    """The ask found room elsewhere while its victim was on its way out: that it has gone is told all the same."""
    row = first(watch)
    watch.bound("prod-0", "n9")
    run(watch)
    assert set(row.victims.values_list("state", flat=True)) == {Victim.State.EVICTED}
    watch.gone(*victims_of(row))
    run(watch)
    assert set(row.victims.values_list("state", flat=True)) == {Victim.State.EXITED}
    assert row.steps.filter(kind="exited").count() == 2


def test_a_note_is_cut_to_its_column(cluster: Cluster, watch: Watch) -> None:
    """However long the server's sentence, or a name in it, the decision is closed."""
    watch.actuator.reserving = Result(outcome=OperationOutcome.REFUSED, sentence="no " * 200)
    assert len(first(watch).steps.last().note) == 300


def test_a_victim_with_an_endless_grace_stops_no_pass(cluster: Cluster, watch: Watch) -> None:
    """Kubernetes takes any number of seconds; no calendar reaches that far."""
    watch.put([msgspec.structs.replace(one, grace_s=2**63 - 1) for one in watch.state.pods.values()])
    row = first(watch)
    assert row.state == "waiting"
    assert row.deadline is not None


def test_an_eviction_without_an_answer_is_not_told_as_spared_when_the_next_is_refused(
    cluster: Cluster, watch: Watch
) -> None:
    """The server took the first, the connection broke, the second can't go: the first is found out by later passes."""
    watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
    row = first(watch)
    lost, refused = victims_of(row)
    watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
    watch.actuator.evicting = {
        lost: EvictionResult(outcome=EvictionOutcome.RETRY, sentence="broken"),
        refused: EvictionResult(outcome=EvictionOutcome.BLOCKED, sentence="two budgets"),
    }
    run(watch)
    row.refresh_from_db()
    assert row.ending == Decision.Ending.BLOCKED
    leaving = msgspec.structs.replace(
        watch.state.pods[f"uid-{lost}"], terminating=True, disruption="EvictionByEvictionAPI", disrupted_ms=1
    )
    watch.put(leaving)
    run(watch)
    states = dict(row.victims.values_list("name", "state"))
    assert states == {lost: Victim.State.EVICTED, refused: Victim.State.SPARED}
    assert not Decision.objects.exclude(source="engine").exists()


def test_an_eviction_without_an_answer_that_nothing_came_of_is_spared_in_the_end(
    cluster: Cluster, watch: Watch
) -> None:
    """The request never reached the server: the pod runs on, and after a minute that is certain."""
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        for name in ("test-0", "test-1", "test-2", "test-3"):
            watch.actuator.evicting[name] = EvictionResult(outcome=EvictionOutcome.RETRY, sentence="broken")
        row = first(watch)
        watch.bound("prod-0", "n9")
        run(watch)
        assert set(row.victims.values_list("state", flat=True)) == {Victim.State.CHOSEN}
        clock.shift(timedelta(seconds=61))
        run(watch)
        assert set(row.victims.values_list("state", flat=True)) == {Victim.State.SPARED}


def test_a_set_that_would_break_a_budget_by_now_is_not_begun(cluster: Cluster, watch: Watch) -> None:
    """Each of the two might go alone, so no dry run tells: the budget is charged whole again just before."""
    watch.actuator.reserving = Result(outcome=OperationOutcome.RETRY)
    row = first(watch)
    watch.put(DisruptionBudget(namespace="ns", name="one", allowed=1))
    watch.actuator.reserving = Result(outcome=OperationOutcome.DONE)
    assert run(watch).hold == "disruption-budget"
    row.refresh_from_db()
    assert row.ending == Decision.Ending.SUPERSEDED
    assert watch.actuator.evicted == []


def test_a_server_that_is_too_busy_to_judge_a_set_is_asked_again(cluster: Cluster, watch: Watch) -> None:
    """429 without a budget says nothing of the victims: the intent stays, and its ask does not cool down."""
    for name in ("test-0", "test-1", "test-2", "test-3"):
        watch.actuator.judging[name] = EvictionResult(outcome=EvictionOutcome.HELD, sentence="too many requests")
    assert first(watch).state == Decision.State.PLANNED
    watch.actuator.judging.clear()
    assert run(watch).state == Decision.State.WAITING


def test_whoever_no_longer_leads_sweeps_nothing(cluster: Cluster, watch: Watch) -> None:
    """The lease is lost in the middle of a pass: what is on the nodes may be the next leader's."""
    run(watch)
    swept = watch.actuator.swept
    assert swept == [{"uid-prod-0"}]
    watch.put(ask("prod-1", queue="prod", cpu=1), node("n2", 1), pod("test-9", queue="test", node="n2", app="test"))
    watch.actuator.before_reserving = lambda: setattr(watch, "leading", False)
    run(watch)
    assert (watch.leading, len(swept)) == (False, 1)
