"""What a pass tells its policy of safeguards: decisions come out that can be carried out, and again when replayed."""

import pytest

from engine.model.decision import decode
from scheduler_admin.clusters.safeguards.pauses import pause
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay.replay import replayed
from scheduler_admin.journal.selectors.forecasts import forecast_tree
from scheduler_admin.queues.services.hierarchies import Terms
from tests.builders import ask, budget, node, pod, queue, tree
from tests.worker.conftest import add_cluster
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db

SHAPE = tree({"prod": queue("4"), "test.a": queue(), "test.b": queue()})
BY_PRIORITY = Terms(policy="priority", dialect="kube-scheduler")


def two_full_nodes(*more: object) -> Watch:
    """The pod ``young`` of test.a is the one that any policy would take; ``old`` of test.b would do as well."""
    return Watch(
        node("n1", 1),
        node("n2", 1),
        pod("young", queue="test.a", node="n1", priority=-2, created_ms=2, started_ms=2, labels={"app": "young"}),
        pod("old", queue="test.b", node="n2", priority=-1, created_ms=1, started_ms=1, labels={"app": "old"}),
        ask("want", queue="prod"),
        *more,
    )


def chosen() -> list[str]:
    """The names of the victims of the one decision that preempts."""
    return list(preemption().victims.values_list("name", flat=True))


@pytest.mark.parametrize("terms", [None, BY_PRIORITY], ids=["fence", "priority"])
@pytest.mark.parametrize("mode", ["advise", "enforce"])
def test_beside_a_budget_of_zero_another_pod_goes_in_the_same_pass(terms: Terms | None, mode: str) -> None:
    """What is advised is what would be done."""
    run(add_cluster(SHAPE, terms=terms, mode=mode), two_full_nodes(budget(0, app="young")))
    assert chosen() == ["old"]
    assert preemption().hold == ""


def test_where_kube_scheduler_decides_budgets_are_its_own_affair() -> None:
    """Observed, policy priority says what that would do."""
    run(add_cluster(SHAPE, terms=BY_PRIORITY, mode="observe"), two_full_nodes(budget(0), budget(0, "other")))
    assert chosen() == ["young"]


def test_a_revision_may_have_it_choose_as_kube_scheduler_does() -> None:
    """Then the budget holds the decision back."""
    terms = Terms(policy="priority", dialect="kube-scheduler", parameters={"budgets": "counted"})
    # Covered twice, which the Eviction API refuses; as kube-scheduler counts, no budget is violated.
    covering = [budget(1, "one", app="young"), budget(1, "two", app="young")]
    run(add_cluster(SHAPE, terms=terms), two_full_nodes(*covering))
    assert (chosen(), preemption().hold) == (["young"], "disruption-budget")


def test_a_paused_queue_keeps_its_pods_and_others_go() -> None:
    """Nobody waits for the pause to end."""
    cluster = add_cluster(SHAPE)
    pause(cluster=cluster, actor=None, reason="a look", queue="root.test.a")
    watch = two_full_nodes()
    run(cluster, watch)
    assert watch.actuator.evicted == ["old"]


def test_what_only_delays_does_not_change_who_goes() -> None:
    """A limit on a queue's evictions holds the decision back; no other pod goes in place."""
    run(add_cluster(SHAPE, evictions_per_queue=0), two_full_nodes())
    assert (chosen(), preemption().hold) == (["young"], "evictions-per-queue")


def test_where_no_set_is_let_through_the_best_one_is_shown_with_what_holds_it_back() -> None:
    """With the name of the budget, for its page."""
    run(add_cluster(SHAPE), two_full_nodes(budget(0, "everybody")))
    row = preemption()
    assert (chosen(), row.hold, row.state) == (["young"], "disruption-budget", Decision.State.ON_HOLD)
    safeguard = decode(row.document).safeguard
    assert safeguard
    assert safeguard.detail == "ns/everybody"


def test_a_replay_is_given_what_the_policy_was_given() -> None:
    """A pause that has ended since, as it was then."""
    cluster = add_cluster(SHAPE)
    pause(cluster=cluster, actor=None, reason="a look", queue="root.test.a")
    run(cluster, two_full_nodes())
    cluster.pauses.all().delete()
    row = preemption()
    assert replayed(row) == row.document.encode()


def test_a_forecast_goes_by_the_policy_of_its_tree_not_by_that_of_the_pass() -> None:
    """The pass over an observed kube-scheduler has no safeguards; a draft of policy fence keeps the budget."""
    cluster = add_cluster(SHAPE, terms=BY_PRIORITY, mode="observe")
    run(cluster, two_full_nodes(budget(0, app="young")))
    found = forecast_tree(cluster=cluster, tree=SHAPE, policy="fence", dialect="design", parameters={})
    assert found is not None
    evicted = [one.victim.name for each in found.proposed.rounds for one in each.evictions]
    assert evicted == ["old"]
