"""Our own budgets: whatever is decided, no more pods go than every one of them allows."""

from collections import Counter
from datetime import datetime, timedelta

import pytest
import time_machine
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult
from engine.model.decision import Interlock
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.worker import passes
from scheduler_admin.worker.acting.eviction_budgets import Budgets, Loss
from tests.builders import ask, node, pod, queue, tree
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

BUDGETS = (
    Interlock.EVICTIONS_PER_PASS,
    Interlock.EVICTIONS_PER_MINUTE,
    Interlock.EVICTIONS_PER_QUEUE,
    Interlock.EVICTIONS_PER_NAMESPACE,
    Interlock.EVICTIONS_PER_NODE,
)
LOSSES = st.builds(Loss, *[st.sampled_from(["x", "y"])] * 3)
MANY = st.lists(LOSSES, max_size=6)
LIMITS = st.fixed_dictionaries(dict.fromkeys(BUDGETS, st.integers(0, 8)))


def unlimited(**but: int) -> dict[Interlock, int]:
    """Limits that nothing reaches, ``but`` some: ``unlimited(evictions_per_node=1)``."""
    named = {Interlock(name.replace("_", "-")): limit for name, limit in but.items()}
    return dict.fromkeys(BUDGETS, 1000) | named


@given(LIMITS, MANY, MANY, st.lists(MANY, max_size=8))
@example(unlimited(evictions_per_node=1), [], [Loss("x", "x", "x")] * 2, [[Loss("y", "y", "y")]])
def test_no_budget_is_ever_exceeded_and_decisions_go_whole(
    limits: dict[Interlock, int], lost: list[Loss], going: list[Loss], decisions: list[list[Loss]]
) -> None:
    """Of any decisions in any order, those let through keep all budgets; one that is held would have broken its own."""
    budgets = Budgets(limits, lost, going)
    taken = [*lost, *going]
    before, passed = len(taken), list[Loss]()
    for decision in decisions:
        held = budgets.exceeded(decision)
        if held is None:
            budgets.charge(decision)
            passed += decision
            taken += decision
        else:
            assert held in {name for name, _ in _broken(limits, [*taken, *decision], [*going, *passed, *decision])}
    assert len(taken) == before + len(passed)
    # What is on its way already may exceed a budget that has been lowered since: nobody is added to it.
    assert not _broken(limits, taken, [*going, *passed]) & _spent(passed, passed).keys()


def _broken(limits: dict[Interlock, int], taken: list[Loss], in_pass: list[Loss]) -> set[tuple[Interlock, str]]:
    """The budgets that these losses exceed, counted anew: which, and of what queue, namespace or node."""
    return {(name, key) for (name, key), count in _spent(taken, in_pass).items() if count > limits[name]}


def _spent(taken: list[Loss], in_pass: list[Loss]) -> Counter[tuple[Interlock, str]]:
    spent = Counter((Interlock.EVICTIONS_PER_PASS, "") for _ in in_pass)
    for loss in taken:
        spent[Interlock.EVICTIONS_PER_MINUTE, ""] += 1
        spent[Interlock.EVICTIONS_PER_QUEUE, loss.queue] += 1
        spent[Interlock.EVICTIONS_PER_NAMESPACE, loss.namespace] += 1
        spent[Interlock.EVICTIONS_PER_NODE, loss.node] += 1
    return spent


@pytest.mark.parametrize("name", [budget.value.replace("-", "_") for budget in BUDGETS])
def test_at_the_boundaries_none_one_and_n(name: str) -> None:
    """0 lets nothing go, 1 one pod, n just n."""
    losses = [Loss("q", "ns", "n1")] * 3
    allowed = [
        [Budgets(unlimited(**{name: n}), [], []).exceeded(losses[:k]) is None for k in (1, 2, 3)] for n in range(4)
    ]
    assert allowed == [[k <= n for k in (1, 2, 3)] for n in range(4)]


def test_the_strictest_wins() -> None:
    """Whatever the others would allow."""
    limits = unlimited(evictions_per_node=1)
    assert (
        Budgets(limits, [], []).exceeded([Loss("q", "a", "n1"), Loss("p", "b", "n1")]) is Interlock.EVICTIONS_PER_NODE
    )
    assert Budgets(limits, [], []).exceeded([Loss("q", "a", "n1"), Loss("p", "b", "n2")]) is None


def test_every_new_cluster_has_finite_budgets() -> None:
    """Nobody has to think of it."""
    fields = ("pass", "minute", "queue", "namespace", "node")
    assert all(0 < getattr(Cluster(), f"evictions_per_{field}") <= 100 for field in fields)


pytest_db = pytest.mark.django_db


def crowded(asks: int) -> Watch:
    """``asks`` full nodes of Test, and as many asks of Prod for two cores each."""
    watch = Watch()
    for number in range(asks):
        name = f"n{number}"
        watch.put(node(name, 2), [pod(f"test-{number}-{n}", queue="test", node=name, app="test") for n in range(2)])
        watch.put(ask(f"prod-{number}", queue="prod", cpu=2, unschedulable_ms=number))
    return watch


WIDE = tree({"prod": queue("100", delay_ms=1), "test": queue(delay_ms=1)})


def run(watch: Watch) -> None:
    """One pass."""
    passes.run_pass(cluster=Cluster.objects.select_related("hierarchy__current").get(), watch=watch)


@pytest_db
@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"evictions_per_minute": 5}, 4),
        ({"evictions_per_pass": 3}, 2),
        ({"evictions_per_queue": 1}, 0),
        ({"evictions_per_namespace": 6}, 6),
        ({"evictions_per_node": 1}, 0),
        ({"evictions_per_node": 2}, 8),
    ],
)
def test_decisions_of_two_victims_go_whole_or_not_at_all(settings: dict[str, int], most: int) -> None:
    """Of four asks as many are served as fit the budget whole; the others are held back and say by which."""
    add_cluster(WIDE, reserved_nodes=10, **settings)
    watch = crowded(4)
    run(watch)
    assert len(watch.actuator.evicted) == most
    held = set(Decision.objects.filter(state=Decision.State.ON_HOLD).values_list("hold", flat=True))
    assert held == ({next(iter(settings)).replace("_", "-")} if most < 8 else set())


@pytest_db
def test_in_any_minute_of_any_passes_no_more_go_than_allowed() -> None:
    """Passes a few seconds apart, victims that exit late, a server that holds some back: the window slides."""
    add_cluster(WIDE, reserved_nodes=30, evictions_per_minute=5)
    watch, begun = crowded(12), datetime.fromisoformat("2026-01-01T12:00:00+00:00")
    with time_machine.travel(begun, tick=False) as clock:
        for turn in range(30):
            later = EvictionResult(outcome=EvictionOutcome.HELD, retry_after_s=9)
            watch.actuator.evicting = {f"test-{turn % 7}-0": later, f"test-{turn % 5}-1": later}
            run(watch)
            for row in Decision.objects.filter(state=Decision.State.WAITING, last_seen__lt=timezone.now()):
                watch.gone(*(name for name in row.victims.values_list("name", flat=True)))
                watch.bound(row.ask_name, row.node)
            clock.shift(timedelta(seconds=7))
    times = sorted(at for at in Victim.objects.values_list("evicted_at", flat=True) if at is not None)
    assert len(times) > 5
    for at in times:
        assert sum(at <= other < at + timedelta(minutes=1) for other in times) <= 5


@pytest_db
def test_what_is_still_in_flight_counts_however_long_it_takes() -> None:
    """A victim with an hour of grace that has not gone is not forgotten after a minute."""
    add_cluster(WIDE, reserved_nodes=10, evictions_per_minute=2, bind_margin_s=7200)
    watch = crowded(2)
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        run(watch)
        clock.shift(timedelta(minutes=10))
        run(watch)
        assert len(watch.actuator.evicted) == 2
        row = Decision.objects.open().get()
        watch.gone(*watch.actuator.evicted)
        watch.bound(row.ask_name, row.node)
        run(watch)
    assert len(watch.actuator.evicted) == 4


@pytest_db
def test_one_that_went_after_a_request_without_an_answer_counts() -> None:
    """The server took it and the answer was lost; the pod was gone before anybody looked."""
    add_cluster(WIDE, reserved_nodes=10, evictions_per_minute=2)
    watch = crowded(1)
    real = watch.actuator.evict

    def losing(victim: Victim, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        result = real(victim, dry_run=dry_run, again=again)
        return result if dry_run or again else EvictionResult(outcome=EvictionOutcome.RETRY)

    watch.actuator.evict = losing
    run(watch)
    assert len(watch.actuator.evicted) == 2
    watch.gone(*watch.actuator.evicted)
    watch.bound("prod-0", "n0")
    watch.put(crowded(2).state.pods["uid-prod-1"], node("n1", 2))
    watch.put([pod(f"test-1-{n}", queue="test", node="n1", app="test") for n in range(2)])
    run(watch)
    assert Decision.objects.get(ask_name="prod-1", outcome="preempt").hold == "evictions-per-minute"
