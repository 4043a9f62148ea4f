"""A tree is forecast from the journal alone: what it would evict, beside what would go anyway."""

from datetime import timedelta
from itertools import count
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from engine.model.queue_tree import QueueTree
from engine.planning.forecast import Settling
from engine.planning.scheduling_pass import ChoosesNextPod
from engine.policies import UnknownPolicyError, policy
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.journal.models import JournalEntry
from scheduler_admin.journal.selectors import forecasts
from scheduler_admin.journal.selectors.forecasts import Outlook, TooMuchWorkError, forecast_tree
from scheduler_admin.journal.selectors.journal import live
from tests.builders import ask, node, pod, queue, tree
from tests.worker.conftest import TREE, add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db

GENEROUS = tree({"prod": queue("4", delay_ms=1), "test": queue("4", delay_ms=1)})
"""Test is promised all that it has."""


def outlook(cluster: Cluster, shape: QueueTree) -> Outlook | None:
    """The forecast of a tree, by the policy of the product."""
    cluster = Cluster.objects.get(pk=cluster.pk)
    return forecast_tree(cluster=cluster, tree=shape, policy="fence", dialect="design", parameters={})


def test_a_cluster_that_was_never_read_has_no_forecast(cluster: Cluster) -> None:
    """None, not an empty one."""
    assert outlook(cluster, TREE) is None


def test_what_the_next_pass_would_do_is_told_apart_from_what_a_change_would_spare(watch: Watch) -> None:
    """One pod of Test goes under the tree in force; with a larger guarantee none does."""
    cluster = add_cluster(mode="observe")
    run(cluster, watch)
    found = outlook(cluster, GENEROUS)
    assert found is not None
    assert (found.present.first_pass.pods, found.proposed.first_pass.pods) == (1, 0)
    assert found.change.caused == ()
    assert [one.victim.queue for one in found.change.spared] == ["root.test"]
    assert found.proposed.settles is Settling.STABLE


def test_what_is_being_evicted_counts_as_gone(cluster: Cluster, watch: Watch) -> None:
    """An open decision's victims go and its ask is bound: no eviction of the forecast's own."""
    run(cluster, watch, times=2)
    found = outlook(cluster, TREE)
    assert found is not None
    assert [placed.ask.name for placed in found.present.placed] == ["prod-0"]
    assert found.present.first_pass.pods == found.present.total.pods == 0


def test_a_moment_is_as_old_as_the_last_pass_that_saw_it(watch: Watch) -> None:
    """A quiet cluster's journal stands still, and is no less true."""
    cluster = add_cluster(mode="observe")
    with time_machine.travel("2026-01-01T12:00:00Z", tick=False) as clock:
        run(cluster, watch)
        clock.shift(timedelta(minutes=5))
        run(cluster, watch)
        seen = live(cluster)
        assert seen is not None
        assert seen.at == timezone.now()
        assert seen.moment.now_ms == int(timezone.now().timestamp() * 1000)
        assert JournalEntry.objects.count() == 1


def test_the_newest_state_is_forecast(watch: Watch) -> None:
    """What came since the keyframe is in it."""
    cluster = add_cluster(mode="observe")
    run(cluster, watch)
    watch.put(node("n2", 4), pod("late", queue="test", node="n2"))
    run(cluster, watch)
    seen = live(cluster)
    assert seen is not None
    assert set(seen.state.pods) == set(watch.state.pods)
    found = outlook(cluster, TREE)
    assert found is not None
    assert [placed.node for placed in found.present.placed] == ["n2"]


def test_a_policy_that_is_not_there_is_an_error_that_says_so(watch: Watch) -> None:
    """Not an empty forecast."""
    cluster = add_cluster(mode="observe")
    run(cluster, watch)
    with pytest.raises(UnknownPolicyError, match="fair-share"):
        forecast_tree(cluster=cluster, tree=TREE, policy="fair-share", dialect="", parameters={})


class TestWork:
    """A forecast keeps a core busy for so long, and no longer."""

    @pytest.fixture(autouse=True)
    def _slow(self, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each ask takes a second."""
        settings.FORECAST_WORK_S = 3
        times = count()
        monkeypatch.setattr(forecasts, "thread_time", lambda: next(times))

    def test_one_that_takes_more_ends(self, watch: Watch) -> None:
        """It is no forecast, rather than half of one."""
        cluster = add_cluster(mode="observe")
        for number in range(1, 5):
            watch.put(ask(f"prod-{number}", queue="prod"))
        run(cluster, watch)
        with pytest.raises(TooMuchWorkError):
            outlook(cluster, GENEROUS)

    def test_one_that_takes_less_does_not(self, watch: Watch, settings: Any) -> None:
        cluster = add_cluster(mode="observe")
        run(cluster, watch)
        assert outlook(cluster, GENEROUS) is not None

    def test_0_is_no_bound(self, watch: Watch, settings: Any) -> None:
        settings.FORECAST_WORK_S = 0
        cluster = add_cluster(mode="observe")
        for number in range(1, 9):
            watch.put(ask(f"prod-{number}", queue="prod"))
        run(cluster, watch)
        assert outlook(cluster, GENEROUS) is not None

    @pytest.mark.parametrize(("name", "dialect"), [("fence", "design"), ("cohort", "kueue")])
    def test_a_policy_keeps_its_say_in_whose_turn_it_is(self, name: str, dialect: str) -> None:
        given = policy(name, dialect, {})
        assert isinstance(forecasts._bounded(given), ChoosesNextPod) is isinstance(given, ChoosesNextPod)
